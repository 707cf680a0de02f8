"""A log on a primary and two followers.

    catchup.py primary
    catchup.py follower [careless] ME
    catchup.py client

The primary numbers what the client writes, and acknowledges it when a follower has it too.
A follower that has missed entries says where its log ends, and the primary sends it the
rest at once. A follower writes each entry to its journal before it says that it has it. A
careless one has what was sent at once in memory alone. The lines of a journal have no
numbers, so what comes next makes a journal with a hole, which nobody reads until the
follower starts again.

In the end all three must have what the client wrote.
"""
import os
import sys

sys.path.insert(0, "/spec")
from words import Node, fail, load, now, show  # noqa: E402

BEAT, WRITES = 0.2, 32
FOLLOWERS = ["f1", "f2"]


class Log:
    def __init__(self):
        self.values = load("journal")
        self.file = open("journal", "a")

    def journal(self, values):
        self.file.write("".join(v + "\n" for v in values))
        self.file.flush()
        os.fsync(self.file.fileno())

    def add(self, values):
        self.journal(values)
        self.values += values


def primary():
    node, log, have = Node("primary"), Log(), dict.fromkeys(FOLLOWERS, 0)
    due = now() + BEAT
    while True:
        words = node.hear(due)
        if words is None:
            due = now() + BEAT
            for f in FOLLOWERS:
                node.say(f, "beat", len(log.values))
            continue
        who, word, *rest = words
        if word == "write":
            if rest[0] not in log.values:
                log.add(rest)
                for f in FOLLOWERS:
                    node.say(f, "entry", len(log.values), rest[0])
            elif max(have.values()) > log.values.index(rest[0]):
                node.say(who, "wrote", rest[0])
        elif word == "have":
            before, have[who] = max(have.values()), max(have[who], int(rest[0]))
            for v in log.values[before:have[who]]:
                node.say("client", "wrote", v)
        elif word == "need":
            at = int(rest[0])
            node.say(who, "fill", at, *log.values[at - 1:])
        elif word == "read":
            node.say(who, "log", *log.values)


def follower(me, careless):
    node, log = Node(me), Log()
    show("%s has %d" % (me, len(log.values)))
    while True:
        who, word, *rest = node.hear(now() + 3600) or ["", ""]
        if word == "read":
            node.say(who, "log", *log.values)
        elif word == "beat" and int(rest[0]) > len(log.values):
            node.say(who, "need", len(log.values) + 1)
        elif word == "entry":
            n = int(rest[0])
            if n == len(log.values) + 1:
                log.add(rest[1:])
            if n <= len(log.values):
                node.say(who, "have", n)
            else:
                node.say(who, "need", len(log.values) + 1)
        elif word == "fill":
            missing = rest[1:][len(log.values) + 1 - int(rest[0]):]
            if int(rest[0]) > len(log.values) + 1 or not missing:
                continue
            if careless:
                log.values += missing
            else:
                log.add(missing)
            show("%s caught up to %d" % (me, len(log.values)))
            node.say(who, "have", len(log.values))


def client():
    node, wrote = Node("client"), []
    for i in range(1, WRITES + 1):
        value, done = "v%d" % i, False
        while not done:
            node.say("primary", "write", value)
            until = now() + 0.3
            while not done and (words := node.hear(until)):
                done = words[1:] == ["wrote", value]
        wrote.append(value)
        until = now() + 0.15
        while node.hear(until):
            pass
    for name in ["primary", *FOLLOWERS]:
        while True:
            node.say(name, "read")
            words = node.hear(now() + 0.5)
            if not words or words[0] != name or words[1] != "log":
                continue
            if words[2:] == wrote:
                break
            if len(words) - 2 >= len(wrote):
                fail("wrote %s, and %s has %s" % (wrote, name, words[2:]))
    show("all have what was written")


if sys.argv[1] == "primary":
    primary()
elif sys.argv[1] == "follower":
    follower(sys.argv[-1], "careless" in sys.argv)
else:
    client()
