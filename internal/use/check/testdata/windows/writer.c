// A store that one writer at a time may write, by a lease of 3 s.
//
//   writer server planted  looks for the lease of a writer, which is gone once it is over
//   writer server fixed    tells the writer that it has none
//   writer client          takes the lease, and writes twice
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

struct lease {
	time_t ends;
	int writes;
};

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

static struct lease *expire(struct lease *l)
{
	if (l && ms() > l->ends) {
		free(l);
		return NULL;
	}
	return l;
}

static int server(int fixed)
{
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in me = at("0.0.0.0"), peer;
	struct lease *l = NULL;
	if (bind(s, (void *)&me, sizeof me))
		return 2;
	for (;;) {
		char b[32];
		socklen_t n = sizeof peer;
		if (recvfrom(s, b, sizeof b, 0, (void *)&peer, &n) <= 0)
			return 2;
		l = expire(l);
		if (*b == 'T') {
			l = calloc(1, sizeof *l);
			l->ends = ms() + 3000;
			strcpy(b, "taken");
		} else if (fixed && !l) {
			strcpy(b, "no lease");
		} else {
			l->writes++;
			snprintf(b, sizeof b, "wrote %d", l->writes);
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
	for (int i = 0; i < 3; i++) {
		char b[32] = "";
		const char *m = i ? "WRITE" : "TAKE";
		sendto(s, m, strlen(m) + 1, 0, (void *)&to, sizeof to);
		if (recv(s, b, sizeof b, 0) <= 0)
			return 2;
		puts(b);
		fflush(stdout);
	}
	return 0;
}
