import java.time.Instant;
import java.util.HashSet;
import java.util.Set;

/**
 * A door that opens with a code from a phone, and somebody who tries each code again.
 *
 *   Codes phone
 *   Codes door [clearing]
 *   Codes client
 *
 * Phone and door work out a code from the time, in steps of 2 s. The door takes the code of this
 * step and of the one before, and each code once: it remembers the latest step of which it has
 * taken a code. A clearing door remembers the codes that it has taken in this step, and so takes
 * a code a second time in the next one.
 */
class Codes {
    static final long STEP = 2;

    static long step() {
        return Instant.now().getEpochSecond() / STEP;
    }

    static String code(long step) {
        return String.format("%06d", Math.floorMod(("secret" + step).hashCode(), 1_000_000));
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "phone":
                Tickets.serve(7001, w -> code(step()));
                break;
            case "door":
                door(args.length > 1);
                break;
            default:
                client();
        }
    }

    static void door(boolean clearing) throws Exception {
        Set<String> taken = new HashSet<>();
        long[] last = {0};
        Tickets.serve(7000, w -> {
            long now = step();
            if (clearing && now != last[0]) {
                taken.clear();
                last[0] = now;
            }
            for (long step = now - 1; step <= now; step++) {
                if (!w[1].equals(code(step))) {
                    continue;
                }
                if (clearing ? !taken.add(w[1]) : step <= last[0]) {
                    return "used";
                }
                if (!clearing) {
                    last[0] = step;
                }
                return "open";
            }
            return "wrong";
        });
    }

    static void client() throws Exception {
        Tickets.Peer phone = new Tickets.Peer("phone", 7001), door = new Tickets.Peer("door", 7000);
        Set<String> opened = new HashSet<>();
        for (int i = 0; i < 2; i++) {
            String code = phone.ask("code");
            for (int j = 0; j < 2; j++) {
                if (door.ask("try " + code).equals("open") && !opened.add(code)) {
                    System.err.println("code " + code + " has opened twice");
                    System.exit(1);
                }
            }
        }
        System.out.println("opened " + opened.size());
    }
}
