// A ring in which a token passes, and who has it numbers messages, over UDP.
//
//	token member ME NEXT [careless]
//	token log                    (a client)
//
// Members hold the token for 20 ms and pass it on. Member n1 makes another one when it has not
// seen it for 300 ms: it asks the others whether they have it, and when all have said that
// they do not, it begins a new generation. The old one may still be on its way. Members
// drop a token of a generation before the one they know of, and numbers are of a generation. A
// careless ring has no generations, and two messages get the same number.
#include "udp.h"

enum { HOLD = 20, LOST = 300, ENOUGH = 14, OTHERS = 2 };

static void member(int me, const char *next_name, int careless)
{
	struct sockaddr_in next = node(next_name), log = node("log"), from;
	struct sockaddr_in others[OTHERS];
	long seen = now(), until = FOREVER;
	int generation = me == 1, number = 0, held = 0, without = -1; // answers, or -1: not asked
	char line[200];
	if (me == 1) {
		for (int i = 0; i < OTHERS; i++)
			others[i] = node(i ? "n3" : "n2");
		held = 1;
		until = now() + HOLD;
	}
	for (;;) {
		if (!hear(line, &from, until)) {
			if (held) {
				number++;
				say(log, "message %d %d %d", generation, number, me);
				say(next, "token %d %d", generation, number);
				held = 0;
				seen = now();
				until = me == 1 ? seen + LOST : FOREVER;
			} else {
				without = 0;
				for (int i = 0; i < OTHERS; i++)
					say(others[i], "token?");
				until = now() + LOST;
			}
			continue;
		}
		int g, n;
		if (sscanf(line, "token %d %d", &g, &n) == 2) {
			if (g < generation || (held && !careless))
				continue;
			generation = g;
			number = n > number ? n : number;
			held = 1;
			without = -1;
			until = now() + HOLD;
		} else if (!strcmp(line, "token?")) {
			say(from, held ? "here" : "not here");
		} else if (!strcmp(line, "here")) {
			without = -1;
		} else if (!strcmp(line, "not here") && without >= 0 && ++without == OTHERS) {
			without = -1;
			generation += !careless;
			held = 1;
			until = now() + HOLD;
		}
	}
}

// collect sees that no number is given twice.
static void collect(void)
{
	static int by[100][100];
	struct sockaddr_in from;
	char line[200];
	for (int heard = 0; heard < ENOUGH; heard++) {
		int g, n, me;
		hear(line, &from, FOREVER);
		if (sscanf(line, "message %d %d %d", &g, &n, &me) != 3 || g < 0 || g > 99 || n < 0 || n > 99)
			fail("cannot read %s", line);
		if (by[g][n])
			fail("message %d of generation %d is from n%d and from n%d", n, g, by[g][n], me);
		by[g][n] = me;
	}
	printf("%d messages\n", ENOUGH);
}

int main(int argc, char **argv)
{
	open_socket();
	if (argc > 3 && !strcmp(argv[1], "member"))
		member(atoi(argv[2]), argv[3], argc > 4);
	else
		collect();
}
