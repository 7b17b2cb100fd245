import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.FileChannel;
import java.security.Provider;
import java.security.SecureRandom;
import java.security.SecureRandomSpi;
import java.security.Security;
import java.util.ArrayList;
import java.util.Hashtable;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;

/** Stands, for ever, in the place that its first argument names. The second is a file's name where one is needed. */
public class Places {
    private static final long LONG = 10_000_000L;

    public static void main(String[] arguments) throws Exception {
        String file = arguments.length > 1 ? arguments[1] : "";
        System.out.println("up");
        System.out.flush();
        switch (arguments[0]) {
            case "name":
                InetAddress.getByName("nobody.knows.example");
                break;
            case "connect":
                connect();
                break;
            case "answer":
                ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
                new Socket(server.getInetAddress(), server.getLocalPort()).getInputStream().read();
                break;
            case "lock":
                try (FileChannel channel = new RandomAccessFile(file, "rw").getChannel()) {
                    channel.lock();
                }
                break;
            case "child":
                new ProcessBuilder("sleep", "1000").start().waitFor();
                break;
            case "library":
                System.load(file);
                break;
            case "initialiser":
                Thread first = new Thread(() -> Slow.touch(), "initialiser");
                first.start();
                Thread.sleep(300);
                Slow.touch();
                break;
            case "circle":
                new Thread(() -> Right.touch(), "second").start();
                Left.touch();
                break;
            case "monitor":
                monitor();
                break;
            case "scan":
                new org.apache.tomcat.util.scan.StandardJarScanner().scan();
                break;
            case "schema":
                new liquibase.lockservice.StandardLockService().waitForLock();
                break;
            case "pipe":
                System.in.read();
                break;
            case "console":
                while (true) {
                    System.out.println("a line that nobody reads, again and again, until the pipe is full");
                }
            case "provider":
                Security.insertProviderAt(new Turning(), 1);
                Security.setProperty("securerandom.strongAlgorithms", "Turning:Turning");
                SecureRandom.getInstanceStrong();
                break;
            case "directory":
                ServerSocket mute = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
                Hashtable<String, String> settings = new Hashtable<>();
                settings.put("java.naming.factory.initial", "com.sun.jndi.ldap.LdapCtxFactory");
                settings.put("java.naming.provider.url", "ldap://127.0.0.1:" + mute.getLocalPort());
                new javax.naming.InitialContext(settings).lookup("cn=nobody");
                break;
            case "future":
                Executors.newSingleThreadExecutor().submit(() -> {
                    connect();
                    return null;
                }).get();
                break;
            case "serves":
                ServerSocket listener = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
                new Thread(() -> accept(listener), "acceptor").start();
                new CountDownLatch(1).await();
                break;
            case "latch":
                new CountDownLatch(1).await();
                break;
            case "sleep":
                Thread.sleep(LONG);
                break;
            case "spin":
                spin();
                break;
            case "heap":
                heap();
                break;
            case "idle":
                new ServerSocket(0, 5, InetAddress.getLoopbackAddress()).accept();
                break;
            default:
                throw new IllegalArgumentException(arguments[0]);
        }
    }

    /** A listener whose queue is full takes no further connection: the kernel drops the packet, and nobody answers. */
    private static void connect() throws Exception {
        ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        for (int number = 0; number < 10; number++) {
            new Socket().connect(new InetSocketAddress(full.getInetAddress(), full.getLocalPort()));
        }
    }

    private static void accept(ServerSocket listener) {
        try {
            listener.accept();
        } catch (java.io.IOException error) {
            throw new IllegalStateException(error);
        }
    }

    private static void monitor() throws Exception {
        Object lock = new Object();
        Thread owner = new Thread(() -> {
            synchronized (lock) {
                try {
                    connect();
                } catch (Exception error) {
                    throw new IllegalStateException(error);
                }
            }
        }, "owner");
        owner.start();
        Thread.sleep(300);
        synchronized (lock) {
            System.out.println("never");
        }
    }

    private static void spin() {
        long number = 1;
        while (number != 0) {
            number = number * 31 + 7 | 1;
        }
    }

    /** A heap that is nearly full: every allocation waits for a collection. */
    private static void heap() {
        List<byte[]> kept = new ArrayList<>();
        while (true) {
            try {
                kept.add(new byte[16 * 1024]);
            } catch (OutOfMemoryError full) {
                kept.remove(kept.size() - 1);
                kept.remove(0);
            }
        }
    }

    private static void nap(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }

    static class Slow {
        static {
            nap(LONG);
        }

        static void touch() {
        }
    }

    static class Left {
        static {
            nap(500);
            Right.touch();
        }

        static void touch() {
        }
    }

    static class Right {
        static {
            nap(500);
            Left.touch();
        }

        static void touch() {
        }
    }

    /** A provider whose own generator asks for the strong one, which is itself; after some turns it stands still. */
    public static class Turning extends Provider {
        public Turning() {
            super("Turning", 1.0, "asks for itself");
            put("SecureRandom.Turning", Generator.class.getName());
        }

        public static class Generator extends SecureRandomSpi {
            private static int turns;

            public Generator() throws Exception {
                if (turns++ < 5) {
                    SecureRandom.getInstanceStrong();
                }
                nap(LONG);
            }

            @Override
            protected void engineSetSeed(byte[] seed) {
            }

            @Override
            protected void engineNextBytes(byte[] bytes) {
            }

            @Override
            protected byte[] engineGenerateSeed(int count) {
                return new byte[count];
            }
        }
    }
}
