#!/usr/bin/env python3
"""Child processes: output, pipelines, status, time-out, fork, exec, wait."""
import os
import signal
import subprocess
import sys

print(subprocess.run(["echo", "one", "two"], capture_output=True, text=True).stdout, end="")
print(subprocess.run("exit 3", shell=True).returncode)
print(subprocess.run("kill -9 $$", shell=True).returncode)
print(subprocess.run(["sort"], input="b\na\n", capture_output=True, text=True).stdout.split())
try:
    subprocess.run(["sleep", "100"], timeout=0.05)
except subprocess.TimeoutExpired:
    print("timed out")
try:
    subprocess.run(["no-such-program"])
except FileNotFoundError as e:
    print(e.strerror)
a = subprocess.Popen(["printf", "x\\ny\\nz\\n"], stdout=subprocess.PIPE)
b = subprocess.Popen(["wc", "-l"], stdin=a.stdout, stdout=subprocess.PIPE, text=True)
a.stdout.close()
print(b.communicate()[0].strip(), a.wait())
p = subprocess.Popen([sys.executable, "-c", "import sys; print(sys.stdin.read().upper())"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
print(p.communicate("shout")[0].strip())
sys.stdout.flush()
r, w = os.pipe()
pid = os.fork()
if pid == 0:
    os.write(w, b"child")
    os._exit(7)
os.close(w)
print(os.read(r, 10), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
p = subprocess.Popen(["sleep", "100"])
p.send_signal(signal.SIGTERM)
print(p.wait())
p = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
print(p.communicate(b"z" * 200000)[0] == b"z" * 200000)
