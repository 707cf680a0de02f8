#!/usr/bin/env python3
"""multiprocessing: pools, queues, shared values, pipes."""
import multiprocessing as mp


def square(x):
    return x * x


def add(v, q):
    for _ in range(100):
        with v.get_lock():
            v.value += 1
    q.put("done")


if __name__ == "__main__":
    mp.set_start_method("fork")
    with mp.Pool(3) as p:
        print(p.map(square, range(10)))
    v, q = mp.Value("i", 0), mp.Queue()
    ps = [mp.Process(target=add, args=(v, q)) for _ in range(3)]
    for p in ps:
        p.start()
    print([q.get() for _ in ps])
    for p in ps:
        p.join()
    print(v.value, [p.exitcode for p in ps])
    a, b = mp.Pipe()
    a.send({"k": [1, 2]})
    print(b.recv(), b.poll(0.01))
