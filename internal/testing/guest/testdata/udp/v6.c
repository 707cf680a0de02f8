// UDP over ::1, and from IPv4 to an IPv6 socket.
#include "net.h"

int main(void)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6}, p;
	socklen_t n = sizeof a;
	char b[8], txt[INET6_ADDRSTRLEN];
	int s = MUST(socket(AF_INET6, SOCK_DGRAM, 0)), six = MUST(socket(AF_INET6, SOCK_DGRAM, 0)), four = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	MUST(bind(s, (struct sockaddr *)&a, sizeof a));
	MUST(getsockname(s, (struct sockaddr *)&a, &n));
	a.sin6_addr = in6addr_loopback;
	SHOW(sendto(six, "six", 3, 0, (struct sockaddr *)&a, sizeof a));
	SHOW(recvfrom(s, b, 8, 0, (struct sockaddr *)&p, &n));
	printf("from %s\n", inet_ntop(AF_INET6, &p.sin6_addr, txt, sizeof txt));
	struct sockaddr_in a4 = loopback(ntohs(a.sin6_port));
	SHOW(sendto(four, "four", 4, 0, (struct sockaddr *)&a4, sizeof a4));
	SHOW(recvfrom(s, b, 8, 0, (struct sockaddr *)&p, &n));
	printf("from %s\n", inet_ntop(AF_INET6, &p.sin6_addr, txt, sizeof txt));
	SHOW(sendto(s, "back", 4, 0, (struct sockaddr *)&p, sizeof p));
	SHOW(recv(four, b, 8, 0));
}
