/**
 * A JVM to be looked at: idle threads, and an answer on its standard output to each byte of its standard input.
 * Compiled with javac --release 8, so that every JVM from 8 on runs it.
 */
public class Patient {
    public static void main(String[] arguments) throws Exception {
        int threads = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 0;
        for (int i = 0; i < threads; i++) {
            start("idle-" + i);
        }
        answer("up");
        while (System.in.read() >= 0) {
            answer("alive");
        }
    }

    private static void start(String name) {
        Thread thread = new Thread(name) {
            @Override
            public void run() {
                try {
                    Thread.sleep(3600000);
                } catch (InterruptedException e) {
                    return;
                }
            }
        };
        thread.setDaemon(true);
        thread.start();
    }

    private static void answer(String text) {
        System.out.println(text);
        System.out.flush();
    }
}
