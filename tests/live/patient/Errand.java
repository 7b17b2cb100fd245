import java.net.Socket;

public class Errand {
    public static void main(String[] arguments) throws Exception {
        long number = Long.parseLong(arguments[1]);
        switch (arguments[0]) {
            case "sleep":
                Thread.sleep(number);
                break;
            case "work":
                long end = System.nanoTime() + number * 1000000L;
                while (System.nanoTime() < end) {
                    continue;
                }
                break;
            case "connect":
                new Socket("127.0.0.1", (int) number).close();
                break;
            case "exit":
                System.exit((int) number);
                break;
            default:
                throw new IllegalArgumentException(arguments[0]);
        }
    }
}
