import java.security.SecureRandom;
import java.util.Locale;

/**
 * The first use of a SecureRandom, timed.
 *
 * <pre>java -cp DIR SeedProbe INSTANCE OPERATION [THREADS]</pre>
 *
 * INSTANCE is {@code default} ({@code new SecureRandom()}), {@code strong}
 * ({@code getInstanceStrong()}) or an algorithm's name; OPERATION is {@code nextBytes},
 * {@code generateSeed}, {@code setSeed} or {@code getSeed}. Each of THREADS threads gets an instance
 * of its own, as the threads of a real program do, and prints {@code ALGORITHM MILLISECONDS} when it is
 * done: the locks that they meet are the provider's, never the probe's. One thread alone is {@code main}.
 *
 * The class file that lies beside this text is made by scripts/build-probe, for Java 8 and later:
 * no compiler is needed where it runs.
 */
public final class SeedProbe implements Runnable {
    /** What Tomcat's session ids and most seeders ask for. */
    private static final int BYTES = 20;

    private final String instance;
    private final String operation;

    private SeedProbe(String instance, String operation) {
        this.instance = instance;
        this.operation = operation;
    }

    public static void main(String[] args) {
        if (args.length < 2 || args.length > 3) {
            System.err.println("usage: SeedProbe default|strong|ALGORITHM"
                    + " nextBytes|generateSeed|setSeed|getSeed [THREADS]");
            System.exit(2);
        }
        SeedProbe probe = new SeedProbe(args[0], args[1]);
        int threads = args.length == 3 ? Integer.parseInt(args[2]) : 1;
        if (threads == 1) {
            probe.run();
            return;
        }
        for (int i = 1; i <= threads; i++) {
            new Thread(probe, "seed-" + i).start();
        }
    }

    @Override
    public void run() {
        long start = System.nanoTime();
        try {
            SecureRandom random = get();
            use(random);
            long millis = (System.nanoTime() - start) / 1_000_000;
            // Not in the machine's language: Arabic digits would be no number to the reader.
            System.out.println(String.format(Locale.ROOT, "%s %d", random.getAlgorithm(), millis));
        } catch (Exception e) {
            System.err.println(e);
            System.exit(1);
        }
    }

    private SecureRandom get() throws Exception {
        switch (instance) {
            case "default":
                return new SecureRandom();
            case "strong":
                return SecureRandom.getInstanceStrong();
            default:
                return SecureRandom.getInstance(instance);
        }
    }

    private void use(SecureRandom random) {
        switch (operation) {
            case "nextBytes":
                random.nextBytes(new byte[BYTES]);
                return;
            case "generateSeed":
                random.generateSeed(BYTES);
                return;
            case "setSeed":
                random.setSeed(new byte[BYTES]);
                return;
            case "getSeed":
                SecureRandom.getSeed(BYTES);
                return;
            default:
                throw new IllegalArgumentException("no such operation: " + operation);
        }
    }
}
