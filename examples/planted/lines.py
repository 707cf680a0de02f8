"""Lines over TCP: a server of one thread and a client that waits for answers.

It uses what is under Python's module socket, which Debian's python3-minimal is without.
"""
import select
import time
from _socket import AF_INET, SO_REUSEADDR, SOCK_STREAM, SOL_SOCKET, socket


class Server:
    def __init__(self, port):
        self.port, self.conns, self.rest = port, {}, {}

    def serve(self):
        s = socket(AF_INET, SOCK_STREAM)
        s.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        s.bind(("", self.port))
        s.listen(8)
        while True:
            left = self.wait()
            ready, _, _ = select.select([s, *self.conns.values()], [], [], None if left is None else max(left, 0))
            for c in ready:
                if c is s:
                    c = socket(fileno=s._accept()[0])
                    self.conns[c.fileno()], self.rest[c.fileno()] = c, b""
                else:
                    self.read(c)
            self.woke()

    def read(self, c):
        who, data = c.fileno(), c.recv(65536)
        if not data:
            del self.conns[who], self.rest[who]
            return c.close()
        *lines, self.rest[who] = (self.rest[who] + data).split(b"\n")
        for line in lines:
            self.said(who, line.decode())

    def say(self, who, line):
        self.conns[who].sendall((line + "\n").encode())

    # For those who serve: what a client said, how long to wait for more, and after it.
    def said(self, who, line):
        raise NotImplementedError

    def wait(self):
        return None

    def woke(self):
        pass


class Client:
    def __init__(self, s):
        self.s, self.rest = s, b""

    def say(self, line):
        self.s.sendall((line + "\n").encode())

    def hear(self):
        while b"\n" not in self.rest:
            data = self.s.recv(65536)
            if not data:
                raise EOFError
            self.rest += data
        line, _, self.rest = self.rest.partition(b"\n")
        return line.decode()

    def ask(self, line):
        self.say(line)
        return self.hear()


def connect(host, port):
    """Tries until there is a server."""
    while True:
        s = socket(AF_INET, SOCK_STREAM)
        try:
            s.connect((host, port))
            return Client(s)
        except OSError:
            s.close()
            time.sleep(0.1)
