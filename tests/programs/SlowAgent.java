/** An agent that waits before the program may begin. */
public class SlowAgent {
    public static void premain(String options) throws InterruptedException {
        Thread.sleep(10_000_000L);
    }
}
