"""A server with sessions that are over after 5 s without a request, as UDP datagrams.

session.py server planted  makes a new session without an owner when one is over
session.py server fixed    keeps the owner
session.py client          logs in, and asks twice who it is
"""
import socket
import sys
import time


def server(fixed):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("", 7000))
    session = {}
    while True:
        words, peer = s.recvfrom(100)
        words = words.decode().split()
        now = time.monotonic()
        if words[0] == "login":
            session = {"owner": words[1], "last": now}
        elif now - session["last"] > 5:
            session = {"owner": session["owner"], "last": now} if fixed else {"last": now}
        session["last"] = now
        s.sendto(session["owner"].encode(), peer)


def client():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for text in "login ann", "who", "who":
        s.sendto(text.encode(), ("10.0.0.1", 7000))
        print(s.recv(100).decode(), flush=True)


server(sys.argv[2] == "fixed") if sys.argv[1] == "server" else client()
