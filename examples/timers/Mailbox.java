import java.io.IOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;

/**
 * A chat in which a user counts as present for 2 s after each poll.
 *
 *   Mailbox server [forgetful]
 *   Mailbox sender
 *   Mailbox reader
 *
 * What is sent to a user who is present waits for the next poll. What is sent to one who is away
 * goes into the mailbox, which the first poll after that empties. A forgetful server notes that
 * the user is present before it looks whether the user was away, and leaves the mailbox as it is.
 */
class Mailbox {
    static final long PRESENT = 2_000_000_000L;
    static final int MESSAGES = 7;

    final boolean forgetful;
    final List<String> waiting = new ArrayList<>(), mailbox = new ArrayList<>();
    long seen = System.nanoTime();

    Mailbox(boolean forgetful) {
        this.forgetful = forgetful;
    }

    boolean away() {
        return System.nanoTime() - seen > PRESENT;
    }

    synchronized String answer(String line) {
        if (!line.equals("poll")) {
            (away() ? mailbox : waiting).add(line.split(" ")[1]);
            return "sent";
        }
        if (forgetful) {
            seen = System.nanoTime();
        }
        List<String> news = new ArrayList<>(waiting);
        waiting.clear();
        if (away()) {
            news.addAll(mailbox);
            mailbox.clear();
        }
        seen = System.nanoTime();
        return String.join(" ", news);
    }

    void serve(Tickets.Peer c) {
        try {
            for (String line = c.in.readLine(); line != null; line = c.in.readLine()) {
                c.say(answer(line));
            }
        } catch (IOException e) {
            System.out.println("connection lost");
        }
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("server")) {
            Mailbox m = new Mailbox(args.length > 1);
            ServerSocket s = new ServerSocket(7000);
            while (true) {
                Tickets.Peer c = new Tickets.Peer(s.accept());
                new Thread(() -> m.serve(c)).start();
            }
        }
        Tickets.Peer server = new Tickets.Peer("server", 7000);
        if (args[0].equals("sender")) {
            for (int i = 0; i < MESSAGES; i++) {
                server.ask("send m" + i);
                Thread.sleep(500);
            }
            return;
        }
        List<String> got = new ArrayList<>();
        for (int polls = 0; polls < 15; polls++) {
            for (String m : server.ask("poll").split(" ")) {
                if (!m.isEmpty() && !m.equals("m" + got.size())) {
                    System.err.println(m + " has come, and m" + got.size() + " has not");
                    System.exit(1);
                }
                if (!m.isEmpty()) {
                    got.add(m);
                }
            }
            Thread.sleep(300);
        }
        System.out.println("got " + got.size());
    }
}
