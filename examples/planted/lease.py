"""A lock service with leases, a store, and workers that add one to a number in it.

    lease.py lock            grants the lock for 100 ms at a time
    lease.py store [fenced]  holds the number; ends in an error when an addition was lost
    lease.py worker

A worker asks for the lock, reads the number, works for 40 ms, and writes it back plus one if
its lease still lasts. What it wrote may still be on its way when the lease ends. So a store
that is fenced refuses what comes with an older grant than it has seen; one that is not loses
an addition.
"""
import sys
import time

sys.path.insert(0, "/spec")
from lines import Server, connect  # noqa: E402

LEASE, WORK, TIMES = 0.100, 0.040, 2


class Lock(Server):
    holder, until, grant = None, 0.0, 0

    def said(self, who, line):
        if line == "acquire":
            if self.holder is not None:
                return self.say(who, "busy")
            self.grant += 1
            self.holder, self.until = who, time.monotonic() + LEASE
            self.say(who, "granted %d" % self.grant)
        elif line == "release" and self.holder == who:
            self.holder = None

    def wait(self):
        return None if self.holder is None else self.until - time.monotonic()

    def woke(self):
        if self.holder is not None and time.monotonic() >= self.until:
            self.holder = None


class Store(Server):
    value, added, newest, fenced = 0, 0, 0, False

    def said(self, who, line):
        word, grant, *rest = line.split()
        if self.fenced and int(grant) < self.newest:
            return self.say(who, "old")
        self.newest = int(grant)
        if word == "read":
            return self.say(who, "value %d" % self.value)
        self.value, self.added = int(rest[0]), self.added + 1
        self.say(who, "written")
        if self.value != self.added:
            sys.exit("%d additions and the number is %d" % (self.added, self.value))


def work():
    lock, store = connect("lock", 7000), connect("store", 7001)
    done = 0
    while done < TIMES:
        asked = time.monotonic()
        answer = lock.ask("acquire")
        if answer == "busy":
            time.sleep(0.030)
            continue
        grant = answer.split()[1]
        value = store.ask("read " + grant)
        if value != "old":
            time.sleep(WORK)
            if time.monotonic() < asked + LEASE and store.ask("write %s %d" % (grant, int(value.split()[1]) + 1)) == "written":
                done += 1
        lock.say("release")
    print("added", done)


if sys.argv[1] == "lock":
    Lock(7000).serve()
elif sys.argv[1] == "store":
    server = Store(7001)
    server.fenced = "fenced" in sys.argv
    server.serve()
else:
    work()
