"""A log on a leader and a follower, whom a controller appoints.

    highwater.py controller
    highwater.py broker [careless] ME PEER
    highwater.py client

The follower fetches what the leader has. The leader acknowledges what the follower has
fetched, and tells it so with what it fetches next (the high watermark), which a broker
writes to its disk now and then. A follower whose log differs from the leader's cuts off what
differs, by the epochs of entries. A careless broker cuts off what is beyond its high
watermark when it starts, to be on the safe side. When the leader dies before
the follower has fetched that again, the follower leads without what was acknowledged.

The client writes numbers, and reads in the end what the leader has.
"""
import sys

sys.path.insert(0, "/spec")
from words import Node, fail, load, now, save, show  # noqa: E402

BEAT, DEAD, FETCH, CHECKPOINT, WRITES = 0.15, 0.4, 0.06, 0.5, 14
BROKERS = ["b1", "b2"]


def controller():
    node, seen, leader, epoch = Node("controller"), {}, "b1", 1
    while True:
        words = node.hear(now() + DEAD / 2)
        if words:
            seen[words[0]] = now()
        alive = [b for b in BROKERS if b in seen and now() - seen[b] < DEAD]
        if leader not in alive and alive:
            leader, epoch = alive[0], epoch + 1
            show("%s leads epoch %d" % (leader, epoch))
        if words:
            node.say(words[0], "leader", leader, epoch)


class Broker:
    def __init__(self, me, peer, careless):
        self.node, self.me, self.peer = Node(me), me, peer
        self.log = [tuple(line.split()) for line in load("log")]  # epochs and values
        self.high = int((load("high") or ["0"])[0])
        if careless and self.log[self.high:]:
            show("%s cuts off %d" % (me, len(self.log) - self.high))
            self.log = self.log[:self.high]
            self.save()
        self.leader, self.epoch, self.waiting = "", 0, {}
        self.serve()

    def save(self):
        save("log", "".join("%s %s\n" % e for e in self.log))

    def serve(self):
        due = {"beat": now(), "fetch": now() + FETCH, "checkpoint": now() + CHECKPOINT}
        every = {"beat": BEAT, "fetch": FETCH, "checkpoint": CHECKPOINT}
        while True:
            words = self.node.hear(min(due.values()))
            if words:
                self.heard(*words)
                continue
            for what in [w for w in due if due[w] <= now()]:
                due[what] = now() + every[what]
                if what == "beat":
                    self.node.say("controller", "beat")
                elif what == "fetch" and self.leader == self.peer:
                    last = self.log[-1][0] if self.log else "0"
                    self.node.say(self.peer, "fetch", self.epoch, len(self.log), last)
                elif what == "checkpoint":
                    save("high", "%d\n" % self.high)

    def heard(self, who, word, *rest):
        if word == "leader" and int(rest[1]) >= self.epoch:
            if int(rest[1]) > self.epoch:
                self.waiting = {}
            self.leader, self.epoch = rest[0], int(rest[1])
        elif word == "write" and self.leader == self.me:
            values = [v for _, v in self.log]
            if rest[0] not in values:
                self.log.append((str(self.epoch), rest[0]))
                self.save()
            elif values.index(rest[0]) < self.high:
                self.node.say(who, "wrote", rest[0])
        elif word == "read" and self.leader == self.me:
            self.node.say(who, "log", *[v for _, v in self.log])
        elif word == "fetch" and self.leader == self.me and int(rest[0]) == self.epoch:
            self.fetch(who, int(rest[1]), int(rest[2]))
        elif word == "entries" and self.leader == who and int(rest[0]) == self.epoch:
            self.entries(int(rest[1]), int(rest[2]), rest[3:])

    def fetch(self, who, length, last):
        # The follower and the leader have the same up to where the leader's last entry of the
        # follower's last epoch is.
        same = len([e for e, _ in self.log if int(e) <= last])
        if length > same or length and int(self.log[length - 1][0]) != last:
            self.node.say(who, "entries", self.epoch, self.high, min(same, length - 1))
            return
        if length > self.high:
            for _, v in self.log[self.high:length]:
                self.node.say("client", "wrote", v)
            self.high = length
        more = ["%s:%s" % e for e in self.log[length:]]
        self.node.say(who, "entries", self.epoch, self.high, length, *more)

    def entries(self, high, at, more):
        log = self.log[:at] + [tuple(e.split(":")) for e in more]
        if len(self.log) >= at and log != self.log:
            self.log = log
            self.save()
        self.high = max(self.high, min(high, len(self.log)))


def client():
    node, at = Node("client"), 0

    def ask(word, *rest):
        nonlocal at
        while True:
            node.say(BROKERS[at], word, *rest)
            until = now() + 0.3
            while words := node.hear(until):
                if words[1] == "log" or words[1:] == ["wrote", *[str(r) for r in rest]]:
                    return words
            at = 1 - at

    for i in range(1, WRITES + 1):
        ask("write", i)
        until = now() + 0.1
        while node.hear(until):
            pass
    who, _, *got = ask("read")
    if missing := [i for i in range(1, WRITES + 1) if str(i) not in got]:
        fail("%s were acknowledged, and %s leads with %s" % (missing, who, got))
    show("all that was written is there")


if sys.argv[1] == "controller":
    controller()
elif sys.argv[1] == "broker":
    names = [a for a in sys.argv[2:] if a != "careless"]
    Broker(names[0], names[1], "careless" in sys.argv)
else:
    client()
