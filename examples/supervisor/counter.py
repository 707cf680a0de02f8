# Counts what it is asked, in a file, and dies at every third number: whoever supervises it starts
# it again.
import os, socket

path = "/node/count"
server = socket.create_server(("", 7000), backlog=16)
while True:
    c, _ = server.accept()
    n = int(open(path).read()) + 1 if os.path.exists(path) else 1
    with open(path + ".new", "w") as f:
        f.write(str(n))
        f.flush()
        os.fsync(f.fileno())
    os.rename(path + ".new", path)
    if n % 3 == 0:
        os._exit(1)
    c.sendall(b"%d\n" % n)
    c.close()
