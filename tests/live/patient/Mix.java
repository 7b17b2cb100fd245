import java.io.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;
import java.util.function.*;

/**
 * Fifty threads that wait in as many ways, below frames of every kind: interpreted, compiled, inlined, deoptimised,
 * lambdas, reflection, native callers, class initialisers. Prints "up" when all of them wait.
 * Compiled with javac --release 8, so that every JVM from 8 on runs it.
 */
public class Mix {
    static final Object LOCK = new Object();
    static final ReentrantLock FAIR = new ReentrantLock();
    static final CountDownLatch NEVER = new CountDownLatch(1);
    static volatile long sink;

    interface Shape { long area(int depth, Runnable end); }
    static class Square implements Shape {
        public long area(int depth, Runnable end) {
            if (depth == 0) { end.run(); return 1; }
            return pick(depth).area(depth - 1, end) + depth;
        }
    }
    static class Circle implements Shape {
        public synchronized long area(int depth, Runnable end) {
            if (depth == 0) { end.run(); return 1; }
            return helper(depth, end) * 3;
        }
        private long helper(int depth, Runnable end) { return pick(depth).area(depth - 1, end); }
    }
    static Shape pick(int depth) { return depth % 3 == 0 ? new Circle() : new Square(); }

    static long recurse(int n, long a, double b, String c, int d, int e, int f, int g, int h, int i, Runnable end) {
        if (n == 0) { end.run(); return a; }
        long r = recurse(n - 1, a + 1, b * 2, c, d + 1, e + 2, f, g, h, i, end);
        return r + (long) b + c.length() + d + e + f + g + h + i;
    }

    static class Late {
        static final long VALUE;
        static { sleep(); VALUE = 3; }
    }

    static void sleep() { try { Thread.sleep(3600000L); } catch (InterruptedException e) { return; } }
    static void waits() { Object o = new Object(); synchronized (o) { try { o.wait(); } catch (InterruptedException e) { return; } } }
    static void parks() { LockSupport.park(NEVER); }
    static void enters() { synchronized (LOCK) { sink++; } }
    static void locks() { FAIR.lock(); }
    static void latch() { try { NEVER.await(); } catch (InterruptedException e) { return; } }
    static void latchFor() { try { NEVER.await(10, TimeUnit.HOURS); } catch (InterruptedException e) { return; } }
    static void polls() { try { new ArrayBlockingQueue<Object>(1).poll(5, TimeUnit.HOURS); } catch (InterruptedException e) { return; } }
    static void reads() { try { PipedInputStream in = new PipedInputStream(); new PipedOutputStream(in); in.read(); } catch (IOException e) { return; } }
    static void accepts() {
        try (java.net.ServerSocket s = new java.net.ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress())) { s.accept(); } catch (IOException e) { return; }
    }
    static void reflects() {
        try { Mix.class.getDeclaredMethod("waits").invoke(null); } catch (ReflectiveOperationException e) { throw new IllegalStateException(e); }
    }
    static void privileged() {
        java.security.AccessController.doPrivileged((java.security.PrivilegedAction<Void>) () -> { sleep(); return null; });
    }
    static void handles() {
        try {
            java.lang.invoke.MethodHandles.lookup().findStatic(Mix.class, "parks", java.lang.invoke.MethodType.methodType(void.class)).invoke();
        } catch (Throwable e) { throw new IllegalStateException(e); }
    }
    static void initialises() { sink += Late.VALUE; }
    static void streams() { java.util.Arrays.asList(1, 2, 3).stream().map(x -> x + 1).forEach(x -> sleep()); }
    static void süßes() { latch(); }

    public static void main(String[] arguments) throws Exception {
        int warm = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 20000;
        Runnable nothing = () -> sink++;
        for (int i = 0; i < warm; i++) {
            sink += pick(i % 7).area(i % 9, nothing) + recurse(i % 12, i, 2, "x", 1, 2, 3, 4, 5, 6, nothing);
        }
        FAIR.lock();
        Runnable[] ends = { Mix::sleep, Mix::waits, Mix::parks, Mix::enters, Mix::locks, Mix::latch, Mix::latchFor, Mix::polls,
            Mix::reads, Mix::accepts, Mix::reflects, Mix::privileged, Mix::handles, Mix::streams, Mix::süßes };
        synchronized (LOCK) {
            for (int i = 0; i < 46; i++) {
                Runnable end = ends[i % ends.length];
                int depth = i;
                start("mix-" + i, () -> { sink += i(depth, end); });
            }
            start("initialiser", Mix::initialises);
            Thread.sleep(300);
            start("initialiser too", Mix::initialises);
            start("näme \u2603", Mix::süßes);
            Thread.sleep(700);
            System.out.println("up");
            System.out.flush();
            while (System.in.read() >= 0) { System.out.println("alive"); System.out.flush(); }
        }
    }
    static long i(int depth, Runnable end) {
        return depth % 2 == 0 ? pick(depth).area(depth, end) : recurse(depth, 1, 2, "y", 1, 2, 3, 4, 5, 6, end);
    }
    static void start(String name, Runnable body) { Thread t = new Thread(body, name); t.setDaemon(true); t.start(); }
}
