// MSG_MORE and UDP_CORK hold a datagram back until it is complete.
#include "net.h"
#include <netinet/udp.h>

int main(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof a;
	char b[64] = {0};
	int r = MUST(socket(AF_INET, SOCK_DGRAM, 0)), s = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	MUST(bind(r, (struct sockaddr *)&a, sizeof a));
	MUST(getsockname(r, (struct sockaddr *)&a, &n));
	MUST(connect(s, (struct sockaddr *)&a, sizeof a));
	SHOW(send(s, "one ", 4, MSG_MORE));
	SHOW(recv(r, b, sizeof b, MSG_DONTWAIT));
	SHOW(send(s, "two ", 4, MSG_MORE));
	SHOW(recv(r, b, sizeof b, MSG_DONTWAIT));
	SHOW(send(s, "three", 5, 0));
	SHOW(recv(r, b, sizeof b, MSG_DONTWAIT));
	printf("%s\n", b);
	int on = 1, off = 0;
	SHOW(setsockopt(s, IPPROTO_UDP, UDP_CORK, &on, sizeof on));
	SHOW(send(s, "four ", 5, 0));
	SHOW(send(s, "five", 4, 0));
	SHOW(recv(r, b, sizeof b, MSG_DONTWAIT));
	SHOW(setsockopt(s, IPPROTO_UDP, UDP_CORK, &off, sizeof off));
	SHOW(recv(r, b, sizeof b, MSG_DONTWAIT));
	printf("%.9s\n", b);
	SHOW(send(s, "lost", 4, MSG_MORE));
	close(s);
	SHOW(recv(r, b, sizeof b, MSG_DONTWAIT));
}
