"""operate.py NAME TIMES: a client that writes a value of its own to x and reads x, in turns, and says so.

What it prints is a history of operations: "write x c1.1" or "read x", then "ok" with what was read, or nothing
when it does not know the outcome. Nothing is checked here.
"""
import socket, sys, time

name, times = sys.argv[1], int(sys.argv[2])
servers = ["n1", "n2", "n3"]


def send(node, request):
    with socket.create_connection((node, 8000), timeout=1) as s:
        s.sendall(request.encode() + b"\n")
        word, _, rest = s.makefile().readline().strip().partition(" ")
        return word, rest


def ask(request):
    """The answer, or None when it has not come after some tries: nobody knows then whether it happened."""
    node = servers[0]
    for i in range(50):
        try:
            word, rest = send(node, request)
            if word == "ok":
                return rest
            node = rest if word == "moved" else servers[i % 3]
        except OSError:
            node = servers[i % 3]
        time.sleep(0.1)


for i in range(1, times + 1):
    value = f"{name}.{i}"
    print("write x", value, flush=True)
    if ask(f"set {name} {i} x {value}") is not None:
        print("ok", flush=True)
    print("read x", flush=True)
    got = ask("get x")
    if got is not None:
        print("ok", got, flush=True)
