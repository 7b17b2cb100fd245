package liquibase.lockservice;

/** Stands for Liquibase's: its loop asks the database for the lock, and sleeps. */
public class StandardLockService {
    public void waitForLock() throws InterruptedException {
        while (true) {
            Thread.sleep(10_000);
        }
    }
}
