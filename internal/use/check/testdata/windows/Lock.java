import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.util.HashMap;
import java.util.Map;

/**
 * A lock service over UDP, whose locks are given back after 4 s.
 *
 * java Lock server planted  unlocks what nobody holds any more
 * java Lock server fixed    says that the lock was lost
 * java Lock client          locks, and unlocks
 */
public class Lock {
    record Held(SocketAddress by, long until) {}

    static void server(boolean fixed) throws Exception {
        DatagramSocket s = new DatagramSocket(7000);
        Map<String, Held> locks = new HashMap<>();
        while (true) {
            DatagramPacket p = new DatagramPacket(new byte[100], 100);
            s.receive(p);
            String[] words = new String(p.getData(), 0, p.getLength()).split(" ");
            locks.values().removeIf(h -> System.nanoTime() > h.until);
            String answer;
            if (words[0].equals("lock")) {
                answer = locks.putIfAbsent(words[1], new Held(p.getSocketAddress(), System.nanoTime() + 4_000_000_000L)) == null ? "locked" : "busy";
            } else {
                Held h = locks.remove(words[1]);
                answer = h == null && fixed ? "lost" : h.by.equals(p.getSocketAddress()) ? "unlocked" : "not yours";
            }
            s.send(new DatagramPacket(answer.getBytes(), answer.length(), p.getSocketAddress()));
        }
    }

    static void client() throws Exception {
        DatagramSocket s = new DatagramSocket();
        for (String m : new String[] {"lock a", "unlock a"}) {
            s.send(new DatagramPacket(m.getBytes(), m.length(), InetAddress.getByAddress(new byte[] {10, 0, 0, 1}), 7000));
            DatagramPacket p = new DatagramPacket(new byte[100], 100);
            s.receive(p);
            System.out.println(new String(p.getData(), 0, p.getLength()));
        }
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("server")) server(args[1].equals("fixed"));
        else client();
    }
}
