"""A desk that lends out one seat, and clients that renew it.

    seat.py desk [trusting]
    seat.py client

A seat is lent for 2 s. Whoever asks later gets it, under a new number. Who renews says the number
that it has. A trusting desk does not look at the number, so it renews the seat of another client.
"""
import sys
import time

sys.path.insert(0, "/spec/bin")
from lines import Server, connect  # noqa: E402

LENT = 2.0


class Desk(Server):
    number, until, trusting = 0, 0.0, False

    def said(self, who, line):
        word, *rest = line.split()
        held = time.monotonic() < self.until
        if word == "take":
            if held:
                return self.say(who, "taken")
            self.number += 1
            self.until = time.monotonic() + LENT
            self.say(who, "yours %d" % self.number)
        elif held and (self.trusting or int(rest[0]) == self.number):
            self.until = time.monotonic() + LENT if word == "renew" else 0.0
            self.say(who, "%s %d" % (word, self.number))
        else:
            self.say(who, "lost")


def client():
    desk = connect("desk", 7000)
    word, *number = desk.ask("take").split()
    if word == "yours":
        for what in ["renew", "renew", "leave"]:
            answer = desk.ask("%s %s" % (what, number[0])).split()
            if answer[0] == "lost":
                break
            if answer[1] != number[0]:
                sys.exit("seat %s was lent, and seat %s is renewed" % (number[0], answer[1]))
    print(word)


if sys.argv[1] == "desk":
    server = Desk(7000)
    server.trusting = "trusting" in sys.argv
    server.serve()
else:
    client()
