#!/usr/bin/python3
"""Sets a key twice, half a second apart, and then reads it.

What it does and what it is told it says in lines. A request without an answer is made again.
"""
import socket
import time


def ask(request):
    """Returns the answer, or None when there is none."""
    try:
        with socket.create_connection(("kv", 8000), timeout=10) as s:
            s.sendall(request.encode() + b"\n")
            answer = s.makefile().readline().strip()
            return answer if answer.startswith("ok") else None
    except OSError:
        return None


for request in ["set key one", "set key two", "get key"]:
    print(request, flush=True)
    while (answer := ask(request)) is None:
        time.sleep(0.2)
    print(answer, flush=True)
    time.sleep(0.5)
