#!/usr/bin/env python3
"""Two connections to a server of lines."""
import socket
import sys
import time


def reach():
    for _ in range(500):
        try:
            return socket.create_connection((sys.argv[1], int(sys.argv[2])))
        except ConnectionRefusedError:
            time.sleep(0.01)
    raise SystemExit("cannot go on: no server")


a, b = reach(), reach()
fa, fb = a.makefile("rw"), b.makefile("rw")
for i in range(5):
    for f, name in (fa, "first"), (fb, "second"):
        f.write("%s %d\n" % (name, i))
        f.flush()
        print(f.readline().strip())
fa.write("end\n")
fa.flush()
print(fa.readline().strip())
