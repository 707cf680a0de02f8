import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * Tickets that end: an issuer, a service, and a client that reads from it.
 *
 *   Tickets issuer
 *   Tickets service [cached]
 *   Tickets client
 *
 * A ticket is valid for 2.5 s. The service looks at it with each request. A cached service
 * remembers for 4 s that a ticket was good, even if the ticket ends before. Each answer has the
 * service's time, so the client sees when it was served too late.
 */
class Tickets {
    static final long VALID = 2500, CACHE = 4000;

    interface Handler {
        String answer(String[] words);
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "issuer":
                serve(7000, w -> "ticket " + (System.currentTimeMillis() + VALID));
                break;
            case "service":
                service(args.length > 1);
                break;
            default:
                client();
        }
    }

    static void service(boolean cached) throws IOException {
        long[] good = {0};
        serve(7001, w -> {
            long end = Long.parseLong(w[1]), now = System.currentTimeMillis();
            if (!(cached && now < good[0])) {
                if (now > end) {
                    return "expired";
                }
                good[0] = now + CACHE;
            }
            return "data at " + now;
        });
    }

    static void client() throws Exception {
        Peer issuer = new Peer("issuer", 7000), service = new Peer("service", 7001);
        String end = issuer.ask("issue").split(" ")[1];
        int read = 0;
        for (int i = 0; i < 4; i++) {
            String[] got = service.ask("read " + end).split(" ");
            if (got[0].equals("data")) {
                if (Long.parseLong(got[2]) > Long.parseLong(end)) {
                    System.err.println("served by a ticket that has ended");
                    System.exit(1);
                }
                read++;
            }
        }
        System.out.println("read " + read);
    }

    static void serve(int port, Handler h) throws IOException {
        ServerSocket s = new ServerSocket(port);
        while (true) {
            Peer c = new Peer(s.accept());
            for (String line = c.in.readLine(); line != null; line = c.in.readLine()) {
                c.say(h.answer(line.split(" ")));
            }
        }
    }

    /** The other end of a connection, for lines. */
    static class Peer {
        final BufferedReader in;
        final PrintStream out;

        Peer(Socket s) throws IOException {
            in = new BufferedReader(new InputStreamReader(s.getInputStream()));
            out = new PrintStream(s.getOutputStream(), true);
        }

        Peer(String host, int port) throws Exception {
            this(dial(host, port));
        }

        static Socket dial(String host, int port) throws Exception {
            while (true) {
                try {
                    return new Socket(host, port);
                } catch (IOException e) {
                    Thread.sleep(100);
                }
            }
        }

        void say(String line) {
            out.print(line + "\n");
            out.flush();
        }

        String ask(String line) throws IOException {
            say(line);
            return in.readLine();
        }
    }
}
