import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.Provider;
import java.security.SecureRandom;
import java.security.Security;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CyclicBarrier;

/**
 * What a JVM's generators read and cost, for {@code seedstall verify} and {@code seedstall bench jvm}.
 *
 * <pre>java -cp DIR SeedMeter first TOKEN INSTANCE OPERATION CALLS
 * java -cp DIR SeedMeter rate TOKEN INSTANCE BYTES CHUNK WARMUP RUNS COMBINATION...</pre>
 *
 * INSTANCE is {@code default} ({@code new SecureRandom()}), {@code strong}
 * ({@code getInstanceStrong()}) or an algorithm's name, after which {@code /CONFIG} sets
 * {@code securerandom.drbg.config}; OPERATION is {@code nextBytes}, {@code generateSeed} or {@code setSeed}.
 *
 * <p>{@code first}: says that it is ready, waits for a byte on its input (so that the starter knows what was
 * read before), does the operation once, then {@code nextBytes} CALLS times more.
 *
 * <p>{@code rate}: for each COMBINATION, {@code own:N} or {@code shared:N}, N threads draw BYTES together, CHUNK at a
 * time, again and again for 40 ms, from an instance of their own or from one that they share: WARMUP + RUNS times.
 *
 * <p>Every line of its own begins with {@code seedmeter TOKEN}: what else is printed (the JVM's notes, a wrapper's)
 * is nobody's result. Values are URL-encoded. The class file beside this text is made by scripts/build-probe, for Java
 * 8 and later.
 */
public final class SeedMeter implements Runnable {
    /** What Tomcat's session ids and most seeders ask for. */
    private static final int SEED_BYTES = 20;

    private static final int CALL_BYTES = 16;
    private static final int TIMER_CALLS = 10_000;
    /** A run is at least so long: shorter, and one thread is done before the next one wakes. */
    private static final long LEAST_NANOS = 40_000_000;

    private static String token;

    private final SecureRandom random;
    private final int bytes;
    private final byte[] chunk;
    private final int runs;
    private final CyclicBarrier barrier;
    /** Of the last run; the barrier hands them over. */
    private long start;
    private long end;
    private long looked;
    private long drawn;
    private long busy;

    private SeedMeter(SecureRandom random, int bytes, int chunk, int runs, CyclicBarrier barrier) {
        this.random = random;
        this.bytes = bytes;
        this.chunk = new byte[chunk];
        this.runs = runs;
        this.barrier = barrier;
    }

    public static void main(String[] args) {
        boolean first = args.length == 5 && args[0].equals("first");
        if (!first && !(args.length > 7 && args[0].equals("rate"))) {
            System.err.println("usage: SeedMeter first TOKEN INSTANCE OPERATION CALLS |"
                    + " rate TOKEN INSTANCE BYTES CHUNK WARMUP RUNS own:N|shared:N...");
            System.exit(2);
        }
        token = args[1];
        try {
            if (first) {
                first(args[2], args[3], Integer.parseInt(args[4]));
            } else {
                rate(args);
            }
        } catch (Throwable e) {
            say("failed", "error", String.valueOf(e));
            System.exit(1);
        }
        // A provider's threads must not keep us: nothing of ours runs any more.
        System.exit(0);
    }

    private static void first(String instance, String operation, int calls) throws Exception {
        say("ready", "pid", pid());
        System.in.read();
        long start = System.nanoTime();
        SecureRandom random = get(instance);
        use(random, operation);
        long nanos = System.nanoTime() - start;
        say("done", "algorithm", random.getAlgorithm(), "provider", random.getProvider().getName(),
                "nanos", Long.toString(nanos),
                "egd", System.getProperty("java.security.egd"),
                "source", Security.getProperty("securerandom.source"),
                "strong", Security.getProperty("securerandom.strongAlgorithms"),
                "java", System.getProperty("java.version"),
                "vendor", System.getProperty("java.vendor"),
                "vm", System.getProperty("java.vm.name"),
                "home", System.getProperty("java.home"),
                "lacking", lacking());
        if (calls > 0) {
            further(random, calls);
        }
    }

    private static void further(SecureRandom random, int calls) {
        long[] each = new long[calls];
        byte[] drawn = new byte[CALL_BYTES];
        for (int i = 0; i < calls; i++) {
            long start = System.nanoTime();
            random.nextBytes(drawn);
            each[i] = System.nanoTime() - start;
        }
        long sum = 0;
        for (long nanos : each) {
            sum += nanos;
        }
        Arrays.sort(each);
        say("further", "calls", Integer.toString(calls), "sum", Long.toString(sum),
                "median", Long.toString(each[calls / 2]),
                "p99", Long.toString(each[(int) (calls * 99L / 100)]),
                "most", Long.toString(each[calls - 1]), "timer", Long.toString(timer()));
    }

    /** What asking the clock costs: the median of what lies between two questions. */
    private static long timer() {
        long[] each = new long[TIMER_CALLS];
        for (int i = 0; i < TIMER_CALLS; i++) {
            long start = System.nanoTime();
            each[i] = System.nanoTime() - start;
        }
        Arrays.sort(each);
        return each[TIMER_CALLS / 2];
    }

    private static void rate(String[] args) throws Exception {
        int bytes = Integer.parseInt(args[3]);
        int chunk = Integer.parseInt(args[4]);
        int warmup = Integer.parseInt(args[5]);
        int runs = Integer.parseInt(args[6]);
        SecureRandom one = get(args[2]);
        one.nextBytes(new byte[CALL_BYTES]);
        say("rating", "algorithm", one.getAlgorithm(), "provider", one.getProvider().getName(),
                "java", System.getProperty("java.version"), "vm", System.getProperty("java.vm.name"),
                "shown", one.toString(), "timer", Long.toString(timer()));
        SeedMeter[][] teams = new SeedMeter[args.length - 7][];
        for (int i = 0; i < teams.length; i++) {
            teams[i] = team(args[2], args[7 + i], one, bytes, chunk, warmup + runs);
        }
        // Each has its turn in every round: what the compiler learns and what else the machine does hits all alike.
        for (int round = 0; round < warmup + runs; round++) {
            for (int i = 0; i < teams.length; i++) {
                CyclicBarrier barrier = teams[i][0].barrier;
                barrier.await();
                barrier.await();
                if (round >= warmup) {
                    say("run", figures(args[7 + i], teams[i]));
                }
            }
        }
    }

    /** By the threads' own clocks: this one may come late to the barrier, and who is done early sleeps there. */
    private static String[] figures(String of, SeedMeter[] team) {
        long first = team[0].start;
        long last = team[0].end;
        long each = 0;
        long busy = 0;
        long drawn = 0;
        for (SeedMeter member : team) {
            drawn += member.drawn;
            first = Math.min(first, member.start);
            last = Math.max(last, member.end);
            each += member.looked;
            busy = member.busy < 0 || busy < 0 ? -1 : busy + member.busy;
        }
        return new String[] {
            "of", of, "bytes", Long.toString(drawn), "nanos", Long.toString(last - first),
            "each", Long.toString(each), "busy", Long.toString(busy)};
    }

    private static SeedMeter[] team(
            String instance, String how, SecureRandom one, int bytes, int chunk, int runs) throws Exception {
        boolean shared = how.startsWith("shared");
        int threads = Integer.parseInt(how.substring(how.indexOf(':') + 1));
        CyclicBarrier barrier = new CyclicBarrier(threads + 1);
        SeedMeter[] team = new SeedMeter[threads];
        for (int t = 0; t < threads; t++) {
            SecureRandom random = shared || threads == 1 ? one : get(instance);
            random.nextBytes(new byte[CALL_BYTES]);
            team[t] = new SeedMeter(random, bytes / threads, chunk, runs, barrier);
            Thread thread = new Thread(team[t]);
            thread.setDaemon(true);
            thread.start();
        }
        return team;
    }

    @Override
    public void run() {
        try {
            for (int i = 0; i < runs; i++) {
                barrier.await();
                long before = onProcessor();
                start = System.nanoTime();
                drawn = 0;
                do {
                    for (int left = bytes; left > 0; left -= chunk.length) {
                        random.nextBytes(chunk);
                        drawn += chunk.length;
                    }
                    end = System.nanoTime();
                } while (end - start < LEAST_NANOS);
                long after = onProcessor();
                looked = System.nanoTime() - start;
                busy = before < 0 || after < 0 ? -1 : after - before;
                barrier.await();
            }
        } catch (Exception e) {
            say("failed", "error", String.valueOf(e));
            System.exit(1);
        }
    }

    /** Nanoseconds that this thread has run or waited for a processor: the rest of its time it slept. -1: not told. */
    private static long onProcessor() {
        // The count of a thread that runs is brought up to date at the timer's ticks, up to 10 ms apart, and here.
        Thread.yield();
        try (InputStream file = new FileInputStream("/proc/thread-self/schedstat")) {
            byte[] text = new byte[80];
            int length = file.read(text);
            String[] words = new String(text, 0, Math.max(0, length), StandardCharsets.US_ASCII).split(" ");
            return Long.parseLong(words[0]) + Long.parseLong(words[1]);
        } catch (IOException | RuntimeException e) {
            return -1;
        }
    }

    private static SecureRandom get(String instance) throws Exception {
        int slash = instance.indexOf('/');
        if (slash >= 0) {
            Security.setProperty("securerandom.drbg.config", instance.substring(slash + 1));
            return SecureRandom.getInstance(instance.substring(0, slash));
        }
        switch (instance) {
            case "default":
                return new SecureRandom();
            case "strong":
                return SecureRandom.getInstanceStrong();
            default:
                return SecureRandom.getInstance(instance);
        }
    }

    private static void use(SecureRandom random, String operation) {
        switch (operation) {
            case "nextBytes":
                random.nextBytes(new byte[SEED_BYTES]);
                return;
            case "generateSeed":
                random.generateSeed(SEED_BYTES);
                return;
            case "setSeed":
                random.setSeed(new byte[SEED_BYTES]);
                return;
            default:
                throw new IllegalArgumentException("no such operation: " + operation);
        }
    }

    /** Our id as the mounted /proc shows it; ProcessHandle is of 9, the management beans take 50 ms. */
    private static String pid() {
        try {
            return new File("/proc/self").getCanonicalFile().getName();
        } catch (IOException e) {
            return "";
        }
    }

    /** The providers that the security properties name and this JVM could not load: an application brings its own. */
    private static String lacking() {
        StringBuilder names = new StringBuilder();
        for (int i = 1; i < 100; i++) {
            String named = Security.getProperty("security.provider." + i);
            if (named == null) {
                break;
            }
            String name = named.trim().split("\\s")[0];
            if (!isLoaded(name)) {
                names.append(names.length() == 0 ? "" : ",").append(name);
            }
        }
        return names.toString();
    }

    private static boolean isLoaded(String named) {
        for (Provider provider : Security.getProviders()) {
            // By class up to 8, by name since 9; the configured SunPKCS11 adds to its name.
            if (provider.getClass().getName().equals(named) || provider.getName().equals(named)
                    || provider.getName().startsWith(named + "-")) {
                return true;
            }
        }
        return false;
    }

    private static synchronized void say(String what, String... fields) {
        StringBuilder line = new StringBuilder(256);
        line.append("seedmeter ").append(token).append(' ').append(what.toLowerCase(Locale.ROOT));
        try {
            for (int i = 0; i < fields.length; i += 2) {
                if (fields[i + 1] != null) {
                    line.append(' ').append(fields[i]).append('=')
                            .append(URLEncoder.encode(fields[i + 1], "UTF-8"));
                }
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        System.out.println(line);
        System.out.flush();
    }
}
