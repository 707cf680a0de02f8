#!/usr/bin/python3
"""A dictionary on PySyncObj, with one node: kv.py [flush].

Clients send one line to port 8000 and get one back: "set KEY VALUE" gives "ok" once the journal has it, "get KEY"
gives "ok VALUE"; "error WHY" otherwise. With "flush" each entry is flushed to the journal's file, which
PySyncObj can do and never does.
"""
import socketserver
import sys

from pysyncobj import SyncObj, SyncObjConf
from pysyncobj.batteries import ReplDict
from pysyncobj.journal import FileJournal

if sys.argv[1:] == ["flush"]:
    add = FileJournal.add

    def add_and_flush(journal, *entry):
        add(journal, *entry)
        journal.flush()

    FileJournal.add = add_and_flush


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(self.answer(line.decode().split()).encode() + b"\n")

    def answer(self, words):
        if not raft.isReady():
            return "error the journal is not applied yet"
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


values = ReplDict()
raft = SyncObj(
    "kv:9000",
    [],
    consumers=[values],
    conf=SyncObjConf(journalFile="journal", fullDumpFile="dump", onReady=lambda: print("ready", flush=True)),
)
with Server(("0.0.0.0", 8000), Handler) as server:
    server.serve_forever()
