// A lease service over UDP, and its client.
//
//   lease server clock    gives a lease for 10 s, and answers whether it still holds by CLOCK_MONOTONIC
//   lease server blind    gives one for ever: it does not look at the clock
//   lease server remains  waits in select for at most 10 s, and answers by what is left of that
//   lease client          takes a lease, asks for it, and exits with status 1 when it is over
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>

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

static int server(const char *how)
{
	int s = socket(AF_INET, SOCK_DGRAM, 0), looks = !strcmp(how, "clock"), over = 0;
	struct sockaddr_in me = at("0.0.0.0"), peer;
	struct timeval left = {10, 0};
	long long taken = 0;
	if (bind(s, (void *)&me, sizeof me))
		return 2;
	for (;;) {
		char b[16];
		if (!strcmp(how, "remains")) {
			fd_set in;
			FD_ZERO(&in);
			FD_SET(s, &in);
			if (select(s + 1, &in, NULL, NULL, over ? NULL : &left) == 0) {
				over = 1;
				continue;
			}
			over = over || left.tv_sec == 0;
		}
		socklen_t n = sizeof peer;
		if (recvfrom(s, b, sizeof b, 0, (void *)&peer, &n) <= 0)
			return 2;
		if (*b == 'T') {
			if (looks)
				taken = now();
			strcpy(b, "yours");
		} else {
			if (looks)
				over = now() - taken > 10000000000LL;
			strcpy(b, over ? "over" : "held");
		}
		sendto(s, b, strlen(b) + 1, 0, (void *)&peer, n);
	}
}

static int client(void)
{
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in to = at("10.0.0.1");
	char b[16] = "";
	for (int i = 0; i < 2; i++) {
		const char *m = i ? "ASK" : "TAKE";
		sendto(s, m, strlen(m) + 1, 0, (void *)&to, sizeof to);
		if (recv(s, b, sizeof b, 0) <= 0)
			return 2;
		puts(b);
		fflush(stdout);
	}
	return !strcmp(b, "over");
}

int main(int argc, char **argv)
{
	return argc > 2 ? server(argv[2]) : client();
}
