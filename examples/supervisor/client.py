#!/usr/bin/python3
# Asks until it has had five numbers, each greater than the one before.
import socket, sys, time

last = 0
for _ in range(5):
    n = 0
    while not n:
        try:
            with socket.create_connection(("server", 7000), timeout=60) as c:
                n = int(c.makefile().readline() or 0)
        except OSError:
            pass
        if not n:
            time.sleep(0.5)
    if n <= last:
        sys.exit("%d comes behind %d" % (n, last))
    last = n
print("five numbers, the last is", last)
