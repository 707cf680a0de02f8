// A register on two servers, over UDP: a leader that answers reads while its lease lasts, and a
// follower that may take over later.
//
//	leader leader [hasty]
//	leader follower
//	leader client
//
// The leader copies each write to the follower. The follower promises with its answer not to take
// over for 3 s. The leader counts its lease from when it asked, by its own clock, and takes one
// second off, since time() has whole seconds. A hasty leader adds this second. The client writes,
// asks the follower to take over, writes there if the follower does, and reads at the leader.
#include "../planted/udp.h"

enum { LEASE = 3, MARGIN = 1, ROUNDS = 3 };

static void leader(int hasty)
{
	struct sockaddr_in follower = node("follower"), from, client = {0};
	long value = 0, until = 0, asked = 0, n;
	char line[200];
	for (;;) {
		if (!hear(line, &from, FOREVER))
			continue;
		if (sscanf(line, "write %ld", &n) == 1) {
			client = from;
			asked = time(NULL);
			say(follower, "copy %ld", n);
		} else if (sscanf(line, "copied %ld", &n) == 1) {
			value = n;
			until = asked + LEASE;
			say(client, "wrote %ld", n);
		} else if (!strcmp(line, "deposed")) {
			until = 0;
			say(client, "deposed");
		} else if (!strcmp(line, "read")) {
			if (time(NULL) <= until + (hasty ? MARGIN : -MARGIN))
				say(from, "value %ld", value);
			else
				say(from, "unsure");
		}
	}
}

static void follower(void)
{
	struct sockaddr_in from;
	long value = 0, promised = 0, n;
	int leads = 0;
	char line[200];
	for (;;) {
		if (!hear(line, &from, FOREVER))
			continue;
		if (sscanf(line, "copy %ld", &n) == 1) {
			if (leads) {
				say(from, "deposed");
				continue;
			}
			value = n;
			promised = time(NULL) + LEASE;
			say(from, "copied %ld", n);
		} else if (!strcmp(line, "lead")) {
			leads = leads || time(NULL) > promised;
			say(from, leads ? "leads" : "follows");
		} else if (sscanf(line, "write %ld", &n) == 1) {
			value = n;
			say(from, "wrote %ld", n);
		} else if (!strcmp(line, "read")) {
			say(from, "value %ld", value);
		}
	}
}

static void ask(struct sockaddr_in server, const char *what, long n, char line[200])
{
	struct sockaddr_in from;
	say(server, what, n);
	if (!hear(line, &from, FOREVER))
		fail("no answer");
}

static void client(void)
{
	struct sockaddr_in one = node("leader"), two = node("follower");
	long wrote = 0, got;
	char line[200];
	usleep(50000);
	for (int i = 0; i < ROUNDS; i++) {
		ask(one, "write %ld", wrote + 1, line);
		if (sscanf(line, "wrote %ld", &got) == 1)
			wrote = got;
		ask(two, "lead", 0, line);
		if (!strcmp(line, "leads")) {
			ask(two, "write %ld", wrote + 1, line);
			wrote++;
		}
		ask(one, "read", 0, line);
		if (sscanf(line, "value %ld", &got) == 1 && got < wrote)
			fail("wrote %ld and read %ld", wrote, got);
	}
	printf("wrote %ld\n", wrote);
}

int main(int argc, char **argv)
{
	open_socket();
	if (argc > 1 && !strcmp(argv[1], "leader"))
		leader(argc > 2);
	else if (argc > 1 && !strcmp(argv[1], "follower"))
		follower();
	else
		client();
}
