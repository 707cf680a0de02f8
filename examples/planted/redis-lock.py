"""Workers that add one to a number in Redis, one at a time by a lock that expires.

    redis-lock.py worker [careless]

A worker takes the lock (SET ... NX PX), reads the number, works for 40 ms, and writes it back
plus one if the lock is still its own. Redis decides that as it writes, by a script. A
careless worker asks first and writes then.
"""
import sys
import time

sys.path.insert(0, "/spec")
from lines import connect  # noqa: E402

WRITE = "if redis.call('get', 'lock') == ARGV[1] then return redis.call('set', 'number', ARGV[2]) end"
RELEASE = "if redis.call('get', 'lock') == ARGV[1] then return redis.call('del', 'lock') end"


class Redis:
    def __init__(self, host):
        self.conn = connect(host, 6379)

    def call(self, *words):
        """Sends a command and returns what Redis answers, None for nil."""
        self.conn.say("*%d\r" % len(words) + "".join("\n$%d\r\n%s\r" % (len(w), w) for w in words))
        line = self.conn.hear().rstrip("\r")
        if line[0] == "-":
            sys.exit(line)
        if line[0] != "$":
            return line[1:]
        return None if line == "$-1" else self.conn.hear().rstrip("\r")


def work(careless):
    redis, me = Redis("redis"), sys.argv[2]
    done = attempts = 0
    while done < 2:
        attempts += 1
        mine = "%s-%d" % (me, attempts)
        if redis.call("SET", "lock", mine, "NX", "PX", "100") is None:
            time.sleep(0.030)
            continue
        value = int(redis.call("GET", "number") or 0)
        time.sleep(0.040)
        if not careless:
            wrote = redis.call("EVAL", WRITE, "0", mine, str(value + 1))
        else:
            wrote = redis.call("GET", "lock") == mine and redis.call("SET", "number", str(value + 1))
        if wrote == "OK":
            done += 1
            added, number = int(redis.call("INCR", "added")), int(redis.call("GET", "number"))
            if number < added:
                sys.exit("%d additions and the number is %d" % (added, number))
        redis.call("EVAL", RELEASE, "0", mine)
    print("added", done)


work("careless" in sys.argv)
