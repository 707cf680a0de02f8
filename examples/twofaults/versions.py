"""Registers on three replicas. Each coordinates what clients ask of it.

    versions.py replica [careless] ME PEER...
    versions.py client ME REPLICA...

A coordinator asks a majority for the latest version, writes the next one to a majority, and
acknowledges that. A careless one takes the version after its own for the next: it asks
nobody. A replica keeps the latest version of what it is sent, and says so either way.

The client uses one coordinator as long as it answers. It reads what it wrote, by a majority.
"""
import sys

sys.path.insert(0, "/spec")
from words import Node, fail, load, now, save, show  # noqa: E402

WRITES, KEYS, AGAIN, PATIENCE = 20, 4, 0.08, 0.25


class Replica:
    def __init__(self, me, peers, careless):
        self.node, self.me, self.peers, self.careless = Node(me), me, peers, careless
        self.have = {str(k): ("0.-", "none") for k in range(KEYS)}  # versions and values
        for line in load("registers"):
            key, *self.have[key] = line.split()
        self.op = None  # what a client has asked for and is under way
        self.serve()

    def order(self, version):
        number, who = version.split(".")
        return int(number), who

    def keep(self, key, version, value):
        if self.order(version) > self.order(self.have[key][0]):
            self.have[key] = version, value
            save("registers", "".join("%s %s %s\n" % (k, *h) for k, h in self.have.items()))

    def serve(self):
        due = now() + 1
        while True:
            words = self.node.hear(due)
            if words:
                self.heard(*words)
            elif self.op:
                if now() > self.op["end"]:
                    self.op = None
                else:
                    self.ask()
            due = now() + (AGAIN if self.op else 1)

    def ask(self):
        for p in self.peers:
            if p not in self.op["answers"]:
                self.node.say(p, *self.op["question"])

    def begin(self, question, answers):
        self.op.update(question=question, answers=answers)
        self.ask()

    def heard(self, who, word, *rest):
        if word in ("put", "get"):
            number, key, *value = rest
            self.op = {"who": who, "word": word, "number": number, "key": key, "value": value, "end": now() + PATIENCE}
            if word == "put" and self.careless:
                self.write(self.have[key][0])
            else:
                self.begin(("latest", number, key), {self.me: self.have[key]})
        elif word == "latest":
            number, key = rest
            self.node.say(who, "version", number, *self.have[key])
        elif word == "store":
            number, *stored = rest
            self.keep(*stored)
            self.node.say(who, "stored", number)
        elif self.op and rest[0] == self.op["number"] and (word, self.op["question"][0]) == ("version", "latest"):
            self.op["answers"][who] = rest[1:]
            version, value = max(self.op["answers"].values(), key=lambda a: self.order(a[0]))
            if self.op["word"] == "put":
                self.write(version)
            else:
                # What a majority has not been seen to have is written to it first.
                self.store(version, value)
        elif self.op and rest[0] == self.op["number"] and (word, self.op["question"][0]) == ("stored", "store"):
            op, self.op = self.op, None
            self.node.say(op["who"], op["word"], op["number"], op["question"][-1])

    def write(self, latest):
        self.store("%d.%s" % (self.order(latest)[0] + 1, self.me), self.op["value"][0])

    def store(self, version, value):
        self.keep(self.op["key"], version, value)
        self.begin(("store", self.op["number"], self.op["key"], version, value), {self.me: None})


def client(me, replicas):
    node, at, asked = Node(me), 0, 0

    def ask(word, *rest):
        nonlocal at, asked
        while True:
            asked += 1
            node.say(replicas[at], word, asked, *rest)
            until = now() + 0.3
            while words := node.hear(until):
                if words[1:3] == [word, str(asked)]:
                    return words[3]
            at = (at + 1) % len(replicas)

    for i in range(1, WRITES + 1):
        ask("put", i % KEYS, i)
        if (got := ask("get", i % KEYS)) != str(i):
            fail("put %d and got %s at %s" % (i, got, replicas[at]))
        until = now() + 0.12
        while node.hear(until):
            pass
    show("got what was put")


careless = "careless" in sys.argv
names = [a for a in sys.argv[2:] if a != "careless"]
if sys.argv[1] == "replica":
    Replica(names[0], names[1:], careless)
else:
    client(names[0], names[1:])
