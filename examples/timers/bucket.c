// A rate limiter over UDP, as a token bucket, and a client that counts what it was granted.
//
//	bucket limiter [endless]
//	bucket client
//
// The bucket holds two tokens and gets one every 400 ms, which the limiter works out from the
// clock when a request comes. An endless bucket holds any number of tokens. So after some time
// without requests it grants too many at once. Each grant has the limiter's time.
#include "../planted/udp.h"

enum { EVERY = 400, BURST = 2, REQUESTS = 9 };

static void limiter(int endless)
{
	struct sockaddr_in from;
	long tokens = BURST, filled = now();
	char line[200];
	for (;;) {
		int id;
		if (!hear(line, &from, FOREVER) || sscanf(line, "take %d", &id) != 1)
			continue;
		long t = now(), n = (t - filled) / EVERY;
		filled += n * EVERY;
		tokens += n;
		if (tokens > BURST && !endless)
			tokens = BURST;
		if (tokens > 0) {
			tokens--;
			say(from, "granted %d at %ld", id, t);
		} else {
			say(from, "no %d", id);
		}
	}
}

static void client(void)
{
	struct sockaddr_in server = node("limiter"), from;
	long grants[REQUESTS], n = 0, at;
	char line[200];
	usleep(50000);
	for (int id = 0; id < REQUESTS; id++) {
		int got;
		say(server, "take %d", id);
		if (!hear(line, &from, FOREVER))
			fail("no answer");
		if (sscanf(line, "granted %d at %ld", &got, &at) != 2)
			continue;
		grants[n++] = at;
		for (long i = 0; i < n; i++)
			if (n - i > BURST + 1 + (at - grants[i]) / EVERY)
				fail("%ld grants in %ld ms", n - i, at - grants[i]);
	}
	printf("%ld grants\n", n);
}

int main(int argc, char **argv)
{
	open_socket();
	if (argc > 1 && !strcmp(argv[1], "limiter"))
		limiter(argc > 2);
	else
		client();
}
