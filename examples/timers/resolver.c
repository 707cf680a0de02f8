// A resolver over UDP that sends questions on to a server of names, and clients that ask it.
//
//	resolver names
//	resolver resolver [reusing]
//	resolver client NAME
//
// The resolver has one slot for a question. A question that has no answer after 1.5 s gives the
// slot up to the next one. The number of a question goes with it and comes back, and an answer to
// an earlier question is dropped. A reusing resolver sends the number of the slot, so that a late
// answer goes to whoever has the slot now.
#include "../planted/udp.h"

enum { PATIENCE = 1500, TRIES = 6 };

static void names(void)
{
	struct sockaddr_in from;
	char line[200], name[50];
	int id;
	for (;;)
		if (hear(line, &from, FOREVER) && sscanf(line, "find %d %49s", &id, name) == 2)
			say(from, "found %d %s 10.0.%d.1", id, name, name[0]);
}

static void resolver(int reusing)
{
	struct sockaddr_in server = node("names"), from, asker = {0};
	long asked = 0;
	int used = 0, number = 0, id;
	char line[200], name[50], address[50];
	for (;;) {
		if (!hear(line, &from, FOREVER))
			continue;
		if (sscanf(line, "ask %49s", name) == 1) {
			if (used && now() - asked < PATIENCE) {
				say(from, "busy");
				continue;
			}
			used = 1;
			asked = now();
			asker = from;
			if (!reusing)
				number++;
			say(server, "find %d %s", number, name);
		} else if (sscanf(line, "found %d %49s %49s", &id, name, address) == 3) {
			if (!used || id != number)
				continue;
			used = 0;
			say(asker, "address %s", address);
		}
	}
}

static void client(const char *name)
{
	struct sockaddr_in server = node("resolver"), from;
	char line[200], want[60];
	snprintf(want, sizeof want, "address 10.0.%d.1", name[0]);
	usleep(50000);
	for (int i = 0; i < TRIES; i++) {
		say(server, "ask %s", name);
		if (!hear(line, &from, now() + 5000)) {
			printf("no answer\n");
			return;
		}
		if (strcmp(line, "busy")) {
			if (strcmp(line, want))
				fail("%s has another name's %s", name, line);
			printf("%s\n", line);
			return;
		}
		usleep(400000);
	}
	printf("busy\n");
}

int main(int argc, char **argv)
{
	open_socket();
	if (argc > 1 && !strcmp(argv[1], "names"))
		names();
	else if (argc > 1 && !strcmp(argv[1], "resolver"))
		resolver(argc > 2);
	else
		client(argc > 2 ? argv[2] : "a");
}
