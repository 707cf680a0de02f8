// A leader that answers reads as long as its lease of 2 s holds.
//
//   twice server planted  looks at the clock, and once more for the time that it writes down: the
//                         lease may be over between the two
//   twice server fixed    looks once, and writes that down
//   twice client          asks, and checks that what it was told is of a time within the lease
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static struct sockaddr_in at(const char *host)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(7000)};
	a.sin_addr.s_addr = inet_addr(host);
	return a;
}

static long ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int server(int fixed)
{
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in me = at("0.0.0.0"), peer;
	long ends = ms() + 2000;
	if (bind(s, (void *)&me, sizeof me))
		return 2;
	for (;;) {
		char b[64];
		socklen_t n = sizeof peer;
		if (recvfrom(s, b, sizeof b, 0, (void *)&peer, &n) <= 0)
			return 2;
		long now = ms();
		if (now > ends) {
			strcpy(b, "no lease");
		} else {
			if (!fixed)
				now = ms();
			snprintf(b, sizeof b, "%s", now > ends ? "stale" : "fresh");
		}
		sendto(s, b, strlen(b) + 1, 0, (void *)&peer, n);
	}
}

int main(int argc, char **argv)
{
	if (argc > 2)
		return server(!strcmp(argv[2], "fixed"));
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in to = at("10.0.0.1");
	char b[64] = "";
	for (int i = 0; i < 2; i++) {
		sendto(s, "READ", 5, 0, (void *)&to, sizeof to);
		if (recv(s, b, sizeof b, 0) <= 0)
			return 2;
		puts(b);
		fflush(stdout);
		if (!strcmp(b, "stale"))
			return 1;
	}
	return 0;
}
