#!/usr/bin/env python3
"""Sockets: TCP, UDP, Unix, options, errors, time-outs."""
import errno
import os
import socket

l = socket.create_server(("127.0.0.1", 0))
s = socket.create_connection(l.getsockname())
c, peer = l.accept()
print(peer == s.getsockname(), peer[0])
s.sendall(b"hello")
print(c.recv(5))
s.shutdown(socket.SHUT_WR)
print(c.recv(5))
try:
    l.settimeout(0.02)
    l.accept()
except socket.timeout as e:
    print("accept:", e)
s2, c2 = socket.socketpair()
s2.setblocking(False)
try:
    s2.recv(1)
except BlockingIOError as e:
    print(errno.errorcode[e.errno])
u, v = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
u.bind(("127.0.0.1", 0))
v.sendto(b"datagram", u.getsockname())
data, where = u.recvfrom(100)
print(data, where[0])
gone = l.getsockname()
l.close()
try:
    socket.create_connection(gone)
except OSError as e:
    print(errno.errorcode[e.errno])
x = socket.socket(socket.AF_UNIX)
x.bind("\0guest-python-%d" % os.getpid())
print(type(x.getsockname()).__name__)
print(socket.getaddrinfo("127.0.0.1", 80, type=socket.SOCK_STREAM)[0][4])
socket.send_fds(s2, [b"fd"], [u.fileno()])
msg, fds, flags, addr = socket.recv_fds(c2, 10, 3)
print(msg, len(fds), socket.socket(fileno=fds[0]).getsockname() == u.getsockname())
