#!/usr/bin/env python3
"""The interpreter's view of the system: time, random, temporary files, locks."""
import fcntl
import mmap
import os
import random
import resource
import shutil
import tempfile
import time

print(time.time() > 1e9, time.monotonic() > 0, time.perf_counter() >= 0)
t = time.monotonic()
time.sleep(0.01)
print(time.monotonic() - t >= 0.01)
print(len(os.urandom(16)), os.urandom(8) != os.urandom(8), 0 <= random.random() < 1)
with tempfile.TemporaryDirectory() as d:
    p = os.path.join(d, "f")
    with open(p, "w") as f:
        f.write("hello " * 100)
        f.flush()
        os.fsync(f.fileno())
        fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
    shutil.copy(p, p + "2")
    print(sorted(os.listdir(d)), os.path.getsize(p + "2"))
    with open(p, "r+b") as f, mmap.mmap(f.fileno(), 0) as m:
        m[0:5] = b"HELLO"
        m.flush()
    print(open(p).read(11))
print(os.path.exists(d))
print(os.cpu_count() >= 1, len(os.sched_getaffinity(0)) >= 1)
print(os.uname().sysname, os.getcwd() == os.path.realpath("."))
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
print(resource.getrlimit(resource.RLIMIT_NOFILE))
print(os.popen("echo popen").read().strip(), os.system("exit 2") >> 8)
print(hash("a") == hash("a"), len(str(hash("x"))) > 0)
os.environ["X"] = "y"
print(os.popen("echo $X").read().strip())
