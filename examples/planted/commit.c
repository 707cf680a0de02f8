// Transactions on two participants by two-phase commit, over UDP.
//
//	commit participant PEER [careless]
//	commit coordinator           (a client)
//
// The coordinator asks both to prepare, and commits when both have voted for it within 500 ms. A
// participant that has voted and hears no decision for 200 ms asks the other one, which
// says what it knows. One that was not asked to prepare yet says "aborted": it can, as long
// as it votes against it later. A careless one forgets to, and then one has committed what the
// other has aborted. At the end the coordinator asks both.
#include "udp.h"

enum { VOTES = 500, DOUBT = 200, MOST = 4, PAUSE = 30 };
enum state { UNKNOWN, PREPARED, COMMITTED, ABORTED };

static const char *const names[] = {"unknown", "prepared", "committed", "aborted"};

static void participant(const char *peer_name, int careless)
{
	struct sockaddr_in peer = node(peer_name), coordinator = node("coordinator"), from;
	enum state states[MOST + 1] = {UNKNOWN};
	int refused[MOST + 1] = {0}, doubt = 0; // the transaction that is prepared
	long until = FOREVER;
	char line[200], word[20];
	int t;
	for (;;) {
		if (!hear(line, &from, until)) {
			say(peer, "outcome? %d", doubt);
			until = now() + DOUBT;
			continue;
		}
		if (sscanf(line, "%19s %d", word, &t) != 2 || t < 1 || t > MOST)
			continue;
		if (!strcmp(word, "prepare")) {
			if (refused[t] && !careless)
				states[t] = ABORTED;
			if (states[t] == ABORTED) {
				say(coordinator, "no %d", t);
				continue;
			}
			states[t] = PREPARED;
			doubt = t;
			until = now() + DOUBT;
			say(coordinator, "yes %d", t);
		} else if (!strcmp(word, "commit") || !strcmp(word, "abort")) {
			if (states[t] == PREPARED || states[t] == UNKNOWN)
				states[t] = *word == 'c' ? COMMITTED : ABORTED;
		} else if (!strcmp(word, "outcome?")) {
			if (states[t] == UNKNOWN)
				refused[t] = 1;
			if (states[t] != PREPARED)
				say(from, "%s %d", states[t] == COMMITTED ? "commit" : "abort", t);
		} else if (!strcmp(word, "state?")) {
			say(from, "%s %d", names[states[t]], t);
			continue;
		}
		if (doubt && states[doubt] != PREPARED)
			until = FOREVER;
	}
}

// ask asks a participant until it knows.
static void ask(struct sockaddr_in who, int t, char word[20])
{
	struct sockaddr_in from;
	char line[200];
	int n;
	do {
		say(who, "state? %d", t);
		do {
			hear(line, &from, FOREVER);
		} while (from.sin_addr.s_addr != who.sin_addr.s_addr || sscanf(line, "%19s %d", word, &n) != 2 || n != t ||
			 !strcmp(word, "yes") || !strcmp(word, "no"));
		if (!strcmp(word, "prepared"))
			usleep(100 * 1000);
	} while (!strcmp(word, "prepared"));
}

static void coordinator(void)
{
	struct sockaddr_in who[2] = {node("p1"), node("p2")}, from;
	char line[200], word[20], one[20], other[20];
	usleep(20000);
	for (int t = 1; t <= 2; t++) {
		int yes = 0, no = 0, n;
		say(who[0], "prepare %d", t);
		say(who[1], "prepare %d", t);
		long until = now() + VOTES;
		while (yes < 2 && !no && hear(line, &from, until)) {
			if (sscanf(line, "%19s %d", word, &n) == 2 && n == t) {
				yes += !strcmp(word, "yes");
				no += !strcmp(word, "no");
			}
		}
		for (int i = 0; i < 2; i++)
			say(who[i], "%s %d", yes == 2 ? "commit" : "abort", t);
		usleep(PAUSE * 1000);
		ask(who[0], t, one);
		ask(who[1], t, other);
		printf("transaction %d: %s, %s\n", t, one, other);
		if (!strcmp(one, "committed") != !strcmp(other, "committed"))
			fail("one participant has %s transaction %d, the other %s", one, t, other);
	}
}

int main(int argc, char **argv)
{
	open_socket();
	if (argc > 2 && !strcmp(argv[1], "participant"))
		participant(argv[2], argc > 3);
	else
		coordinator();
}
