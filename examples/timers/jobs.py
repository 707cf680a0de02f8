"""A queue of jobs, workers, and a ledger in which each job is written once.

    jobs.py queue
    jobs.py ledger
    jobs.py worker [receipts]

A job that a worker has taken is hidden from the others for 2 s, and a take after that gives it out
again, with another receipt. The ledger drops what it has under the same key. The key is the number
of the job. Workers with receipts use the receipt, so that a job that is given out twice counts twice.
"""
import sys
import time

sys.path.insert(0, "/spec/bin")
from lines import Server, connect  # noqa: E402

JOBS, HIDDEN = 3, 2.0


class Queue(Server):
    receipts = 0

    def said(self, who, line):
        word, *rest = line.split()
        now = time.perf_counter()
        if word == "done":
            self.jobs.pop(rest[0], None)
            return self.say(who, "ok")
        for job, until in self.jobs.items():
            if now >= until:
                self.receipts += 1
                self.jobs[job] = now + HIDDEN
                return self.say(who, "job %s r%d" % (job, self.receipts))
        self.say(who, "wait" if self.jobs else "empty")


class Ledger(Server):
    def said(self, who, line):
        word, *rest = line.split()
        if word == "add":
            self.entries.add(rest[0])
        self.say(who, "has %d" % len(self.entries))


def worker(receipts):
    queue, ledger = connect("queue", 7000), connect("ledger", 7001)
    while True:
        word, *rest = queue.ask("take").split()
        if word == "empty":
            break
        if word == "wait":
            time.sleep(0.5)
            continue
        job, receipt = rest
        ledger.ask("add " + (receipt if receipts else job))
        queue.ask("done " + job)
    has = ledger.ask("count")
    if has != "has %d" % JOBS:
        sys.exit("%d jobs are done, and the ledger %s" % (JOBS, has))
    print("done")


if sys.argv[1] == "queue":
    server = Queue(7000)
    server.jobs = {"j%d" % i: 0.0 for i in range(JOBS)}
    server.serve()
elif sys.argv[1] == "ledger":
    server = Ledger(7001)
    server.entries = set()
    server.serve()
else:
    worker("receipts" in sys.argv)
