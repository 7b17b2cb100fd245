import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that keep moving: even calls odd, odd calls even, to a random depth, and there they wait shortly in one of
 * several ways. Compiled with javac --release 8, so that every JVM from 8 on runs it.
 */
public class Churn {
    static final Object LOCK = new Object();
    static volatile Object sink;

    static int even(int depth) {
        if (depth == 0) { end(); return 0; }
        return odd(depth - 1) + 1;
    }

    static int odd(int depth) {
        if (depth == 0) { end(); return 0; }
        return even(depth - 1) + 1;
    }

    static void end() {
        switch (ThreadLocalRandom.current().nextInt(4)) {
            case 0: LockSupport.parkNanos(20000); break;
            case 1: synchronized (LOCK) { sink = new byte[64]; } break;
            case 2: synchronized (LOCK) { try { LOCK.wait(1); } catch (InterruptedException e) { return; } } break;
            default: sink = new byte[256];
        }
    }

    static void run() {
        while (true) {
            int depth = ThreadLocalRandom.current().nextInt(40);
            if (depth % 2 == 0) { even(depth); } else { odd(depth); }
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
            Thread thread = new Thread(() -> run(), "churn-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("up");
        System.out.flush();
        while (System.in.read() >= 0) { System.out.println("alive"); System.out.flush(); }
    }
}
