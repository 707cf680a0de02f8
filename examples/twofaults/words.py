"""Words in datagrams, each with its sender's name before them, and files, for Python.

It uses what is under Python's module socket, which Debian's python3-minimal is without.
"""
import os
import select
import sys
import time
from _socket import AF_INET, SOCK_DGRAM, gethostbyname, socket


class Node:
    def __init__(self, me):
        self.me, self.peers = me, {}
        self.s = socket(AF_INET, SOCK_DGRAM)
        self.s.bind(("", 7000))

    def say(self, to, *words):
        if to not in self.peers:
            self.peers[to] = (gethostbyname(to), 7000)
        self.s.sendto(" ".join(str(w) for w in (self.me, *words)).encode(), self.peers[to])

    def hear(self, until):
        """A sender and its words, or None when none have come by a time."""
        ready, _, _ = select.select([self.s], [], [], max(0, until - now()))
        return self.s.recv(65536).decode().split() if ready else None


def now():
    return time.monotonic()


def show(line):
    print(line, flush=True)


def save(name, text):
    """Replaces a file durably."""
    with open(name + ".new", "w") as f:
        f.write(text)
        f.flush()
        os.fsync(f.fileno())
    os.rename(name + ".new", name)


def load(name):
    """The lines of a file, none when there is no file."""
    if not os.path.exists(name):
        return []
    with open(name) as f:
        return f.read().splitlines()


def fail(text):
    sys.exit(text)
