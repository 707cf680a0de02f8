#!/usr/bin/env python3
"""select, poll, epoll, selectors and signals that interrupt them."""
import os
import select
import selectors
import signal
import socket

r, w = os.pipe()
print(select.select([r], [w], [], 0) == ([], [w], []))
print(select.select([r], [], [], 0.02))
os.write(w, b"x")
print(select.select([r], [], [], 5) == ([r], [], []))
p = select.poll()
p.register(r, select.POLLIN)
print(p.poll(0) == [(r, select.POLLIN)])
e = select.epoll()
e.register(r, select.EPOLLIN | select.EPOLLET)
print(e.poll(0) == [(r, select.EPOLLIN)], e.poll(0))
a, b = socket.socketpair()
with selectors.DefaultSelector() as s:
    s.register(a, selectors.EVENT_READ, "a")
    print(s.select(0))
    b.send(b"hi")
    print([(k.data, m) for k, m in s.select(5)])
got = []
signal.signal(signal.SIGALRM, lambda *x: got.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
print(select.select([a], [], [], 0.1)[0] == [], len(got) >= 1) if a.recv(2) else None
signal.setitimer(signal.ITIMER_REAL, 0)
r2, w2 = os.pipe()
os.set_blocking(w2, False)
signal.set_wakeup_fd(w2)
os.kill(os.getpid(), signal.SIGALRM)
print(os.read(r2, 1) == bytes([signal.SIGALRM]))
