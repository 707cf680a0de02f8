// An IPv6 listener on :: takes IPv4 connections, unless IPV6_V6ONLY.
#include "net.h"

static int listen6(int only, struct sockaddr_in6 *a)
{
	socklen_t n = sizeof *a;
	int l = MUST(socket(AF_INET6, SOCK_STREAM, 0));
	MUST(setsockopt(l, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only));
	*a = (struct sockaddr_in6){.sin6_family = AF_INET6};
	MUST(bind(l, (struct sockaddr *)a, sizeof *a));
	MUST(listen(l, 4));
	MUST(getsockname(l, (struct sockaddr *)a, &n));
	return l;
}

int main(void)
{
	struct sockaddr_in6 a, p;
	socklen_t n = sizeof p;
	char txt[INET6_ADDRSTRLEN];
	int l = listen6(0, &a);
	struct sockaddr_in a4 = loopback(ntohs(a.sin6_port));
	int s = MUST(socket(AF_INET, SOCK_STREAM, 0));
	SHOW(connect(s, (struct sockaddr *)&a4, sizeof a4));
	int c = MUST(accept(l, (struct sockaddr *)&p, &n));
	printf("from %s\n", inet_ntop(AF_INET6, &p.sin6_addr, txt, sizeof txt));
	n = sizeof p;
	MUST(getsockname(c, (struct sockaddr *)&p, &n));
	printf("at %s\n", inet_ntop(AF_INET6, &p.sin6_addr, txt, sizeof txt));

	// And an IPv6 socket may dial a mapped address.
	struct sockaddr_in l4a;
	int l4 = listener(&l4a);
	struct sockaddr_in6 mapped = {.sin6_family = AF_INET6, .sin6_port = l4a.sin_port};
	MUST(inet_pton(AF_INET6, "::ffff:127.0.0.1", &mapped.sin6_addr) == 1 ? 0 : -1);
	int s6 = MUST(socket(AF_INET6, SOCK_STREAM, 0));
	SHOW(connect(s6, (struct sockaddr *)&mapped, sizeof mapped));
	struct sockaddr_in p4;
	n = sizeof p4;
	MUST(accept(l4, (struct sockaddr *)&p4, &n));
	printf("from %s\n", inet_ntoa(p4.sin_addr));

	listen6(1, &a);
	a4 = loopback(ntohs(a.sin6_port));
	s = MUST(socket(AF_INET, SOCK_STREAM, 0));
	SHOW(connect(s, (struct sockaddr *)&a4, sizeof a4));
}
