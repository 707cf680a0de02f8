#!/usr/bin/env python3
"""Threads: queues, locks, events, conditions, timers, thread-locals."""
import queue
import threading
import time

q, results = queue.Queue(), []
lock = threading.Lock()


def worker():
    while (item := q.get()) is not None:
        with lock:
            results.append(item * item)


ts = [threading.Thread(target=worker) for _ in range(5)]
for t in ts:
    t.start()
for i in range(200):
    q.put(i)
for t in ts:
    q.put(None)
for t in ts:
    t.join()
print(len(results), sum(results))
e = threading.Event()
print(e.wait(0.02))
threading.Timer(0.02, e.set).start()
print(e.wait(5))
cond, turn = threading.Condition(), []


def take(n):
    with cond:
        cond.wait_for(lambda: len(turn) == n)
        turn.append(n)
        cond.notify_all()


ts = [threading.Thread(target=take, args=(n,)) for n in (3, 1, 4, 0, 2)]
for t in ts:
    t.start()
for t in ts:
    t.join()
print(turn)
local = threading.local()
local.x = 1
t = threading.Thread(target=lambda: print(hasattr(local, "x")))
t.start()
t.join()
b = threading.Barrier(3)
ts = [threading.Thread(target=b.wait) for _ in range(2)]
for t in ts:
    t.start()
print(b.wait() in (0, 1, 2))
start = time.monotonic()
time.sleep(0.02)
print(time.monotonic() - start >= 0.02, lock.acquire(timeout=1), lock.acquire(timeout=0.01))
