/* Peer answers each message of a connection: it writes a line and a file before. With an address it
 * asks one. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline __attribute__((always_inline)) void say(const char *what)
{
	printf("asked %s\n", what);
	fflush(stdout);
}

static __attribute__((noinline)) void keep(const char *what)
{
	int fd = open("asked", O_CREAT | O_WRONLY, 0600);
	if (write(fd, what, strlen(what)) < 0)
		abort();
	close(fd);
}

static __attribute__((noinline)) void answer(int c)
{
	if (send(c, "yes", 3, 0) != 3)
		abort();
}

static __attribute__((noinline)) void ask(int s)
{
	char b[100];
	if (send(s, "well", 4, 0) != 4 || read(s, b, sizeof b) <= 0)
		abort();
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(9000)};
	int s = socket(AF_INET, SOCK_STREAM, 0), c;
	char b[100];
	if (argc > 1) {
		inet_pton(AF_INET, argv[1], &a.sin_addr);
		if (connect(s, (void *)&a, sizeof a))
			abort();
		ask(s);
		return 0;
	}
	if (bind(s, (void *)&a, sizeof a) || listen(s, 1))
		abort();
	while ((c = accept(s, 0, 0)) >= 0) {
		ssize_t n = read(c, b, sizeof b - 1);
		if (n <= 0)
			continue;
		b[n] = 0;
		say(b);
		keep(b);
		answer(c);
	}
}
