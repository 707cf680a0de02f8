"""A collector of log entries, over UDP, which passes them on to a store in batches.

    flush.py store
    flush.py collector [hurried]
    flush.py client

A batch is passed on when it has four entries, or when an entry comes and the oldest one is 1 s
old, or when the client asks. A hurried collector passes an old batch on before it has put
the new entry into it, and clears it afterwards: it loses the new entry.
"""
import socket
import sys
import time

FULL, OLD = 4, 1_000_000_000
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def say(to, line):
    sock.sendto(line.encode(), to)


def hear():
    data, who = sock.recvfrom(1000)
    return data.decode().split(), who


def node(name):
    return socket.gethostbyname(name), 7000


def store():
    while True:
        words, who = hear()
        say(who, "kept %d" % len(words[1:]))


def collector(hurried):
    to, batch, oldest = node("store"), [], 0
    sent = kept = 0
    syncing = None
    while True:
        words, who = hear()
        if words[0] == "kept":
            kept += int(words[1])
        elif words[0] == "sync":
            syncing = who
            if batch:
                say(to, "batch " + " ".join(batch))
            sent += len(batch)
            batch = []
        else:
            passed = list(batch)
            if not batch:
                oldest = time.monotonic_ns()
            batch.append(words[1])
            old = time.monotonic_ns() - oldest >= OLD
            if old or len(batch) == FULL:
                if not (hurried and old):
                    passed = batch
                say(to, "batch " + " ".join(passed))
                sent += len(passed)
                batch = []
            say(who, "got " + words[1])
        if syncing and kept == sent:
            say(syncing, "synced %d" % kept)
            syncing = None


def client():
    time.sleep(0.1)
    to, entries = node("collector"), 7
    for i in range(entries):
        say(to, "log e%d" % i)
        hear()
    say(to, "sync")
    words, _ = hear()
    if words != ["synced", str(entries)]:
        sys.exit("%d entries, and the store has %s" % (entries, words[1]))
    print("logged", entries)


if sys.argv[1] != "client":
    sock.bind(("", 7000))
if sys.argv[1] == "store":
    store()
elif sys.argv[1] == "collector":
    collector("hurried" in sys.argv)
else:
    client()
