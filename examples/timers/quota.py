"""A quota of five units in each window of 2 s, and a client that reserves and releases.

    quota.py meter [loose]
    quota.py client

The first request after the end of a window begins the next one, in which nothing is used yet. A
client that releases says the window in which it has reserved, and a release for an earlier window
changes nothing. A loose meter subtracts it from the new window. No request for more than five units
may ever be granted.
"""
import sys
import time

sys.path.insert(0, "/spec/bin")
from lines import Server, connect  # noqa: E402

QUOTA, WINDOW = 5, 2.0


class Meter(Server):
    used, window, begun, loose = 0, 1, 0.0, False

    def said(self, who, line):
        word, *numbers = line.split()
        if time.time() - self.begun >= WINDOW:
            self.used, self.window, self.begun = 0, self.window + 1, time.time()
        units = int(numbers[0])
        if word == "reserve":
            if self.used + units > QUOTA:
                return self.say(who, "over")
            self.used += units
            self.say(who, "granted %d" % self.window)
        else:
            if self.loose or int(numbers[1]) == self.window:
                self.used -= units
            self.say(who, "released")


def client():
    meter = connect("meter", 7000)
    for _ in range(2):
        answer = meter.ask("reserve 3").split()
        if answer[0] == "granted":
            meter.ask("release 3 " + answer[1])
        if meter.ask("reserve 6") != "over":
            sys.exit("six units of five were granted")
    print("done")


if sys.argv[1] == "meter":
    server = Meter(7000)
    server.begun = time.time()
    server.loose = "loose" in sys.argv
    server.serve()
else:
    client()
