// Datagrams there and back between two processes.
#include "net.h"

int main(void)
{
	struct sockaddr_in a, from;
	socklen_t n = sizeof from;
	int s = bound(SOCK_DGRAM, &a);
	pid_t child = fork();
	if (child == 0) {
		char b[64];
		for (int i = 0; i < 3; i++) {
			ssize_t r = recvfrom(s, b, sizeof b, 0, (struct sockaddr *)&from, &n);
			MUST(sendto(s, b, r, 0, (struct sockaddr *)&from, n));
		}
		_exit(0);
	}
	int c = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	for (int i = 0; i < 3; i++) {
		char b[64] = {0};
		SHOW(sendto(c, "ping", 4, 0, (struct sockaddr *)&a, sizeof a));
		SHOW(recvfrom(c, b, sizeof b, 0, (struct sockaddr *)&from, &n));
		printf("%s from %s, right port %d\n", b, inet_ntoa(from.sin_addr), from.sin_port == a.sin_port);
	}
	show_wait("server", child);
}
