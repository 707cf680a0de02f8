// Lines in UDP datagrams, and the clock. What the programs in C here have in common.
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PORT = 7000, FOREVER = -1 };

static int sock;

static void fail(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

// now is the time in milliseconds.
static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void open_socket(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	setvbuf(stdout, NULL, _IOLBF, 0);
	sock = socket(AF_INET, SOCK_DGRAM, 0);
	if (sock < 0 || bind(sock, (struct sockaddr *)&a, sizeof a) < 0)
		fail("cannot bind: %s", strerror(errno));
}

// node returns the address of a node.
static struct sockaddr_in node(const char *name)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM}, *found;
	if (getaddrinfo(name, NULL, &hints, &found))
		fail("no node %s", name);
	a.sin_addr = ((struct sockaddr_in *)found->ai_addr)->sin_addr;
	freeaddrinfo(found);
	return a;
}

static void say(struct sockaddr_in to, const char *format, ...)
{
	char line[200];
	va_list ap;
	va_start(ap, format);
	int n = vsnprintf(line, sizeof line, format, ap);
	va_end(ap);
	sendto(sock, line, n, 0, (struct sockaddr *)&to, sizeof to);
}

// hear waits for a datagram, at most until a time or FOREVER; 0 when none has come by then.
static int hear(char line[200], struct sockaddr_in *from, long until)
{
	struct pollfd p = {.fd = sock, .events = POLLIN};
	long left = until == FOREVER ? 0 : until - now();
	if (poll(&p, 1, until == FOREVER ? -1 : left > 0 ? left : 0) <= 0)
		return 0;
	socklen_t size = sizeof *from;
	int n = recvfrom(sock, line, 199, 0, (struct sockaddr *)from, &size);
	if (n < 0)
		return 0;
	line[n] = 0;
	return 1;
}
