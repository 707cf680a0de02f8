"""A leader that renews its lease once a second, by a timer, whatever others do.

renew.py planted  has a lease of 1.05 s, which is over when the timer is late by 50 ms
renew.py fixed    has one of 3 s
"""
import sys
import time

length = 3 if sys.argv[1] == "fixed" else 1.05
until = time.monotonic() + length
for _ in range(4):
    time.sleep(1)
    now = time.monotonic()
    if now > until:
        print("lease lost", flush=True)
        sys.exit(1)
    until = now + length
