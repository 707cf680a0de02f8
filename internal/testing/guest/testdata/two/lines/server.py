#!/usr/bin/env python3
"""A server of lines, a thread for each connection."""
import socketserver
import sys
import threading


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(line[::-1].strip() + b"\n")
            if line == b"end\n":
                threading.Thread(target=self.server.shutdown).start()


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True


with Server(("", int(sys.argv[1])), Handler) as s:
    s.serve_forever(0.05)
print("ended")
