// A lease service over UDP, and its client.
//
//   lease server clock  gives a lease for 10 s, and answers whether it still holds by the second of
//                       the three times at which it reads the clock. It says that it was busy when
//                       the answer has taken it half a millisecond of processor time
//   lease server blind  gives one for ever: it reads the clock and does not look at it
//   lease client        takes a lease and asks for it
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static long long taken, busy;

static struct sockaddr_in at(const char *host)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(7000)};
	a.sin_addr.s_addr = inet_addr(host);
	return a;
}

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int lease_is_over(void)
{
	long long held = now() - taken; // the second
	return held > 10000000000LL;
}

static long long used(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int server(int looks)
{
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in me = at("0.0.0.0"), peer;
	if (bind(s, (void *)&me, sizeof me))
		return 2;
	for (;;) {
		char b[16];
		socklen_t n = sizeof peer;
		if (recvfrom(s, b, sizeof b, 0, (void *)&peer, &n) <= 0)
			return 2;
		long long before = used(), began = now();
		if (*b == 'T') {
			taken = now();
			strcpy(b, "yours");
		} else {
			int over = lease_is_over();
			strcpy(b, looks && over ? "over" : "held");
		}
		busy += now() - began;
		if (used() - before > 500000)
			strcpy(b, "busy");
		sendto(s, b, strlen(b) + 1, 0, (void *)&peer, n);
	}
}

int main(int argc, char **argv)
{
	if (argc > 2)
		return server(!strcmp(argv[2], "clock"));
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in to = at("10.0.0.1");
	char b[16] = "";
	const char *asks[] = {"TAKE", "ASK"};
	for (int i = 0; i < 2; i++) {
		sendto(s, asks[i], strlen(asks[i]) + 1, 0, (void *)&to, sizeof to);
		if (recv(s, b, sizeof b, 0) <= 0)
			return 2;
		puts(b);
	}
	return 0;
}
