// A connected socket hears its peer alone, and can be disconnected.
#include "net.h"

int main(void)
{
	struct sockaddr_in a, b, c, p;
	socklen_t n = sizeof p;
	char buf[8] = {0};
	int s = bound(SOCK_DGRAM, &a), peer = bound(SOCK_DGRAM, &b), other = bound(SOCK_DGRAM, &c);
	SHOW(connect(s, (struct sockaddr *)&b, sizeof b));
	SHOW(getpeername(s, (struct sockaddr *)&p, &n));
	SURE(p.sin_port == b.sin_port);
	SHOW(sendto(other, "other", 5, 0, (struct sockaddr *)&a, sizeof a));
	SHOW(sendto(peer, "peer", 4, 0, (struct sockaddr *)&a, sizeof a));
	SHOW(recv(s, buf, 8, 0));
	printf("%s\n", buf);
	SHOW(recv(s, buf, 8, MSG_DONTWAIT));
	SHOW(sendto(s, "x", 1, 0, (struct sockaddr *)&c, sizeof c));
	SHOW(recv(other, buf, 8, 0));
	struct sockaddr_in un = {.sin_family = AF_UNSPEC};
	SHOW(connect(s, (struct sockaddr *)&un, sizeof un));
	SHOW(getpeername(s, (struct sockaddr *)&p, &n));
	SHOW(send(s, "x", 1, 0));
	SHOW(connect(s, (struct sockaddr *)&c, sizeof c));
	SHOW(shutdown(s, SHUT_WR));
	SHOW(send(s, "x", 1, MSG_NOSIGNAL));
	SHOW(shutdown(s, SHUT_RD));
	SHOW(recv(s, buf, 8, 0));
}
