// TCP over ::1, and the addresses it shows.
#include "net.h"

int main(void)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback}, p;
	socklen_t n = sizeof a;
	char txt[INET6_ADDRSTRLEN];
	int l = MUST(socket(AF_INET6, SOCK_STREAM, 0));
	SHOW(bind(l, (struct sockaddr *)&a, sizeof a));
	SHOW(listen(l, 4));
	SHOW(getsockname(l, (struct sockaddr *)&a, &n));
	int s = MUST(socket(AF_INET6, SOCK_STREAM, 0));
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	n = sizeof p;
	int c = MUST(accept(l, (struct sockaddr *)&p, &n));
	printf("from %s, %u bytes of address\n", inet_ntop(AF_INET6, &p.sin6_addr, txt, sizeof txt), n);
	n = sizeof p;
	SHOW(getpeername(s, (struct sockaddr *)&p, &n));
	SURE(p.sin6_port == a.sin6_port);
	SHOW(write(c, "six", 3));
	SHOW(read(s, txt, 8));
}
