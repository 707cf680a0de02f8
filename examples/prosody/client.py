#!/usr/bin/python3
# Two users of one server: ann writes to ben while he is away, and he has it when he comes.
import base64, re, socket, sys, time


class Session:
    def __init__(self, user):
        while True:
            try:
                self.sock = socket.create_connection(("server", 5222), timeout=120)
                break
            except OSError:
                time.sleep(0.5)
        self.seen = ""
        self.open()
        auth = base64.b64encode(b"\0%s\0secret" % user.encode()).decode()
        self.send("<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>%s</auth>" % auth)
        self.wait("<success")
        self.open()
        self.send("<iq type='set' id='b'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>")
        self.wait("id='b'")
        self.send("<iq type='set' id='s'><session xmlns='urn:ietf:params:xml:ns:xmpp-session'/></iq>")
        self.wait("id='s'")

    def open(self):
        self.send("<stream:stream to='server' version='1.0' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>")
        self.wait("</stream:features>")

    def send(self, text):
        self.sock.sendall(text.encode())

    def wait(self, what):
        while what not in self.seen:
            more = self.sock.recv(65536).decode()
            if not more:
                sys.exit("the server has closed: %s" % self.seen)
            self.seen += more
        at = self.seen.index(what) + len(what)
        before, self.seen = self.seen[:at], self.seen[at:]
        return before

    def close(self):
        self.send("</stream:stream>")
        self.sock.close()


ann = Session("ann")
ann.send("<message to='ben@server' type='chat'><body>hello</body></message>")
ann.send("<iq type='get' id='p' to='server'><ping xmlns='urn:xmpp:ping'/></iq>")
ann.wait("id='p'")
ann.close()
ben = Session("ben")
ben.send("<presence/>")
body = re.search("<body>(.*)</body>", ben.wait("</body>")).group(1)
if body != "hello":
    sys.exit("ben was sent %r" % body)
print("ben has what ann wrote")
