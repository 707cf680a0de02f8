// A server that a password is guessed at, over TCP.
//
//	backoff server [lenient]
//	backoff client
//
// After a wrong password the server refuses to look at another one, for 250 ms and twice as long
// after each further one. It forgets the wrong ones when the last one is 2 s old. A lenient server
// forgets them when the first one is. The server says how many wrong ones it counts, and how long
// ago the last one was. So the client knows what it must count.
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { PORT = 7000, WAIT = 250, FORGET = 2000, GUESSES = 6 };

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static long now(void)
{
	struct timeval t;
	gettimeofday(&t, NULL);
	return t.tv_sec * 1000 + t.tv_usec / 1000;
}

static void server(int lenient)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	int s = socket(AF_INET, SOCK_STREAM, 0), c;
	if (bind(s, (struct sockaddr *)&a, sizeof a) || listen(s, 8) || (c = accept(s, NULL, NULL)) < 0)
		fail("no client");
	FILE *in = fdopen(c, "r"), *out = fdopen(dup(c), "w");
	long wrong = 0, first = 0, last = 0;
	char line[100];
	while (fgets(line, sizeof line, in)) {
		long t = now();
		if (wrong && t - (lenient ? first : last) > FORGET)
			wrong = 0;
		if (wrong && t - last < WAIT << (wrong - 1)) {
			fprintf(out, "locked\n");
		} else if (strcmp(line, "guess 4711\n")) {
			if (!wrong++)
				first = t;
			fprintf(out, "wrong %ld after %ld\n", wrong, t - last);
			last = t;
		} else {
			fprintf(out, "welcome\n");
		}
		fflush(out);
	}
}

static void client(void)
{
	struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
	int c = -1;
	if (getaddrinfo("server", "7000", &hints, &found))
		fail("no server");
	while (c < 0) {
		c = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(c, found->ai_addr, found->ai_addrlen)) {
			close(c);
			c = -1;
			usleep(50000);
		}
	}
	FILE *in = fdopen(c, "r"), *out = fdopen(dup(c), "w");
	long counted = 0, wrong, idle;
	char line[100];
	for (int i = 0; i < GUESSES; i++) {
		fprintf(out, "guess %d\n", 1000 + i);
		fflush(out);
		if (!fgets(line, sizeof line, in))
			fail("no answer");
		if (sscanf(line, "wrong %ld after %ld", &wrong, &idle) != 2)
			continue;
		counted = counted && idle <= FORGET ? counted + 1 : 1;
		if (wrong != counted)
			fail("the server forgets wrong passwords too early");
	}
	printf("%ld guesses\n", counted);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "server"))
		server(argc > 2);
	else
		client();
}
