"""A register with a primary, replicas that answer reads, and a client that reads its writes.

    session.py primary REPLICA...
    session.py replica [careless]
    session.py client REPLICA...

A write is answered with its version before the replicas have it. The client's reads name the
version that it must see, and a replica that is behind lets them wait. A careless one
does so only when it is behind by more than one.
"""
import sys

sys.path.insert(0, "/spec")
from lines import Server, connect  # noqa: E402


class Primary(Server):
    version, replicas = 0, ()

    def said(self, who, line):
        self.version += 1
        for r in self.replicas:
            r.say("apply %d %s" % (self.version, line.split()[1]))
        self.say(who, str(self.version))


class Replica(Server):
    version, value, careless = 0, "", False

    def __init__(self, port):
        super().__init__(port)
        self.waiting = []

    def said(self, who, line):
        word, version, *value = line.split()
        if word == "apply":
            self.version, self.value = int(version), value[0]
        else:
            self.waiting.append((who, int(version) - self.careless))
        for w in [w for w in self.waiting if w[1] <= self.version]:
            self.waiting.remove(w)
            self.say(w[0], "%d %s" % (self.version, self.value))


def client(names):
    primary, replicas = connect("primary", 7000), [connect(n, 7001) for n in names]
    for value in ["red", "green", "blue"]:
        version = primary.ask("write " + value)
        for r in replicas:
            if r.ask("read " + version).split()[1:] != [value]:
                sys.exit("wrote %s as version %s and did not read it" % (value, version))
    print("read all that was written")


if sys.argv[1] == "primary":
    server = Primary(7000)
    server.replicas = [connect(n, 7001) for n in sys.argv[2:]]
    server.serve()
elif sys.argv[1] == "replica":
    server = Replica(7001)
    server.careless = "careless" in sys.argv
    server.serve()
else:
    client(sys.argv[2:])
