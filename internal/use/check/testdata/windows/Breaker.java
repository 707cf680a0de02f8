import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * A circuit breaker over TCP: after an error it refuses requests for 1 s, and then tries one.
 *
 * java Breaker server planted  divides by the number of requests since it opened, which is 0
 * java Breaker server fixed    has no rate then
 * java Breaker client          sends one request that fails, and two that do not
 */
public class Breaker {
    static void server(boolean fixed) throws Exception {
        Socket c = new ServerSocket(7000).accept();
        BufferedReader in = new BufferedReader(new InputStreamReader(c.getInputStream()));
        PrintStream out = new PrintStream(c.getOutputStream(), true);
        long opened = 0;
        boolean open = false;
        int good = 0, all = 0;
        for (String line; (line = in.readLine()) != null; ) {
            String answer = "good";
            if (open && System.currentTimeMillis() - opened >= 1000) {
                open = false;
                answer = fixed && all == 0 ? "tried" : "tried, rate " + 100 * good / all;
            } else if (open) {
                answer = "refused";
            } else if (line.equals("bad")) {
                open = true;
                opened = System.currentTimeMillis();
                good = all = 0;
                answer = "failed";
            }
            out.println(answer);
        }
    }

    static void client() throws Exception {
        Socket c = new Socket("10.0.0.1", 7000);
        BufferedReader in = new BufferedReader(new InputStreamReader(c.getInputStream()));
        PrintStream out = new PrintStream(c.getOutputStream(), true);
        for (String m : new String[] {"bad", "good", "good"}) {
            out.println(m);
            System.out.println(in.readLine());
        }
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("server")) server(args[1].equals("fixed"));
        else client();
    }
}
