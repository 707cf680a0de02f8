#!/usr/bin/python3
"""A replicated dictionary on PySyncObj: kv.py NAME OTHER...

Nodes talk on port 9000. Clients send one line to port 8000 and get one back:
"set KEY VALUE" gives "ok" once a majority has it, "get KEY" gives "ok VALUE" of
this node's own copy; "error WHY" otherwise.
"""
import socketserver
import sys

from pysyncobj import SyncObj, SyncObjConf
from pysyncobj.batteries import ReplDict


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(self.answer(line.decode().split()).encode() + b"\n")

    def answer(self, words):
        try:
            if words[0] == "set":
                values.set(words[1], words[2], sync=True, timeout=5)
                return "ok"
            return "ok %s" % values.get(words[1], "")
        except Exception as e:
            return "error %r" % e


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


name, others = sys.argv[1], sys.argv[2:]
values = ReplDict()
raft = SyncObj(
    name + ":9000",
    [other + ":9000" for other in others],
    consumers=[values],
    conf=SyncObjConf(journalFile="journal", fullDumpFile="dump"),
)
with Server(("0.0.0.0", 8000), Handler) as server:
    server.serve_forever()
