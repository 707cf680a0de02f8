#!/usr/bin/env python3
# Choices of a search, and the first of them where nobody searches.
import os

def choose(n):
    if not os.path.exists("/dev/ariadne"):
        return 0
    with open("/dev/ariadne", "r+b", buffering=0) as f:
        f.write(b"choose %d\n" % n)
        return int(f.readline())

print(choose(3), [choose(2) for _ in range(3)])
