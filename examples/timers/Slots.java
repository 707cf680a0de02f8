import java.util.HashMap;
import java.util.Map;

/**
 * A store that keeps its entries in slots of 500 ms, and an index that knows each entry's slot.
 *
 *   Slots index
 *   Slots store [twice]
 *   Slots client
 *
 * The store works out the slot when an entry arrives, tells the index, and puts the entry into
 * its slot when the index has answered. A store that works out the slot twice may put it into the
 * next one, where nobody looks for it.
 */
class Slots {
    static long slot() {
        return System.nanoTime() / 1_000_000 / 500;
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "index":
                Map<String, String> where = new HashMap<>();
                Tickets.serve(7001, w -> {
                    if (w[0].equals("note")) {
                        where.put(w[1], w[2]);
                        return "noted";
                    }
                    return where.get(w[1]);
                });
                break;
            case "store":
                store(args.length > 1);
                break;
            default:
                Tickets.Peer store = new Tickets.Peer("store", 7000);
                for (int i = 0; i < 3; i++) {
                    store.ask("put k" + i + " v" + i);
                    if (!store.ask("get k" + i).equals("v" + i)) {
                        System.err.println("k" + i + " is stored and not found");
                        System.exit(1);
                    }
                }
                System.out.println("found");
        }
    }

    static void store(boolean twice) throws Exception {
        Map<Long, Map<String, String>> slots = new HashMap<>();
        Tickets.Peer index = new Tickets.Peer("index", 7001);
        Tickets.serve(7000, w -> {
            try {
                if (w[0].equals("put")) {
                    long slot = slot();
                    index.ask("note " + w[1] + " " + slot);
                    slots.computeIfAbsent(twice ? slot() : slot, s -> new HashMap<>()).put(w[1], w[2]);
                    return "stored";
                }
                long slot = Long.parseLong(index.ask("where " + w[1]));
                return slots.getOrDefault(slot, Map.of()).getOrDefault(w[1], "missing");
            } catch (java.io.IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        });
    }
}
