// A server whose state turns without a word: the answer is the same, and the next one is not.
//
//   hidden server planted  drops what it holds when a request comes after 3 s, and uses it later
//   hidden server fixed    keeps it
//   hidden client          asks three times
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

static int server(int fixed)
{
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in me = at("0.0.0.0"), peer;
	time_t began = time(NULL);
	const char *held = "held", *says = held;
	if (bind(s, (void *)&me, sizeof me))
		return 2;
	for (;;) {
		char b[32];
		socklen_t n = sizeof peer;
		if (recvfrom(s, b, sizeof b, 0, (void *)&peer, &n) <= 0)
			return 2;
		says = held;
		if (time(NULL) - began > 3 && !fixed)
			held = "lost";
		sendto(s, says, strlen(says) + 1, 0, (void *)&peer, n);
	}
}

int main(int argc, char **argv)
{
	if (argc > 2)
		return server(!strcmp(argv[2], "fixed"));
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in to = at("10.0.0.1");
	char b[32] = "";
	for (int i = 0; i < 3; i++) {
		sendto(s, "ASK", 4, 0, (void *)&to, sizeof to);
		if (recv(s, b, sizeof b, 0) <= 0)
			return 2;
		puts(b);
		fflush(stdout);
	}
	return strcmp(b, "held") != 0;
}
