#!/usr/bin/python3
"""Writes by each node and reads at all until each has the value."""
import socket
import sys
import time

NODES = ["n1", "n2", "n3"]
TRIES = 100


def ask(node, request):
    with socket.create_connection((node, 8000), timeout=10) as s:
        s.sendall(request.encode() + b"\n")
        return s.makefile().readline().strip()


def retry(node, request, wanted):
    for _ in range(TRIES):
        try:
            answer = ask(node, request)
        except OSError as e:
            answer = str(e)
        if answer == wanted:
            return
        time.sleep(0.2)
    sys.exit("%s at %s: wanted '%s', got '%s'" % (request, node, wanted, answer))


for writer in NODES:
    retry(writer, "set key-%s value-%s" % (writer, writer), "ok")
    for reader in NODES:
        retry(reader, "get key-%s" % writer, "ok value-%s" % writer)
    print("wrote key-%s and read it at all nodes" % writer, flush=True)
