// What connect and send say of addresses that need more than an address: a broadcast, a link-local
// one without an interface, an IPv4 address and then none.
#include "net.h"

static struct sockaddr_in6 six(const char *a, int port)
{
	struct sockaddr_in6 s = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	inet_pton(AF_INET6, a, &s.sin6_addr);
	return s;
}

static void named(int s)
{
	struct sockaddr_in6 a = {0};
	socklen_t n = sizeof a;
	char text[64] = "";
	if (SHOW(getsockname(s, (struct sockaddr *)&a, &n)) == 0)
		printf("local %s%s\n", inet_ntop(AF_INET6, &a.sin6_addr, text, sizeof text), a.sin6_port ? " with a port" : "");
	n = sizeof a;
	if (SHOW(getpeername(s, (struct sockaddr *)&a, &n)) == 0)
		printf("peer %s %d\n", inet_ntop(AF_INET6, &a.sin6_addr, text, sizeof text), ntohs(a.sin6_port));
}

int main(void)
{
	struct sockaddr_in b = {.sin_family = AF_INET, .sin_port = htons(7), .sin_addr.s_addr = INADDR_BROADCAST};
	int u = MUST(socket(AF_INET, SOCK_DGRAM, 0)), c = MUST(socket(AF_INET, SOCK_STREAM, 0));
	SHOW(connect(u, (struct sockaddr *)&b, sizeof b));
	SHOW(sendto(u, "x", 1, 0, (struct sockaddr *)&b, sizeof b));
	b.sin_addr.s_addr = inet_addr("127.255.255.255");
	SHOW(connect(u, (struct sockaddr *)&b, sizeof b));
	SHOW(sendto(u, "x", 1, 0, (struct sockaddr *)&b, sizeof b));
	SHOW(connect(c, (struct sockaddr *)&b, sizeof b));

	struct sockaddr_in6 l = six("fe80::1", 7), m = six("ff02::1", 7), v4 = six("::ffff:127.0.0.1", 7), any = six("::", 7), lo = six("::1", 7);
	int u6 = MUST(socket(AF_INET6, SOCK_DGRAM, 0)), c6 = MUST(socket(AF_INET6, SOCK_STREAM, 0));
	SHOW(connect(u6, (struct sockaddr *)&l, sizeof l));
	SHOW(connect(c6, (struct sockaddr *)&l, sizeof l));
	SHOW(connect(c6, (struct sockaddr *)&m, sizeof m));
	SHOW(bind(MUST(socket(AF_INET6, SOCK_DGRAM, 0)), (struct sockaddr *)&l, sizeof l));
	SHOW(bind(MUST(socket(AF_INET6, SOCK_STREAM, 0)), (struct sockaddr *)&l, sizeof l));

	u6 = MUST(socket(AF_INET6, SOCK_DGRAM, 0));
	SHOW(connect(u6, (struct sockaddr *)&v4, sizeof v4));
	named(u6);
	SHOW(connect(u6, (struct sockaddr *)&any, sizeof any));
	named(u6);
	SHOW(send(u6, "x", 1, MSG_NOSIGNAL));
	SHOW(connect(u6, (struct sockaddr *)&lo, sizeof lo));
	named(u6);
	u6 = MUST(socket(AF_INET6, SOCK_DGRAM, 0));
	SHOW(connect(u6, (struct sockaddr *)&lo, sizeof lo));
	named(u6);
	SHOW(connect(u6, (struct sockaddr *)&v4, sizeof v4));
	named(u6);
	SHOW(connect(u6, (struct sockaddr *)&any, sizeof any));
	named(u6);
	u6 = MUST(socket(AF_INET6, SOCK_DGRAM, 0));
	SHOW(connect(u6, (struct sockaddr *)&any, sizeof any));
	named(u6);
	SHOW(sendto(u6, "x", 1, 0, (struct sockaddr *)&v4, sizeof v4));
	SHOW(sendto(u6, "x", 1, 0, (struct sockaddr *)&any, sizeof any));

	u6 = MUST(socket(AF_INET6, SOCK_DGRAM, 0));
	SHOW(connect(u6, (struct sockaddr *)&v4, sizeof v4));
	SHOW(sendto(u6, "x", 1, 0, (struct sockaddr *)&any, sizeof any));
	SHOW(sendto(u6, "x", 1, 0, (struct sockaddr *)&lo, sizeof lo));

	struct sockaddr_in6 far = six("ff0e::1", 0);
	SHOW(bind(MUST(socket(AF_INET6, SOCK_DGRAM, 0)), (struct sockaddr *)&m, sizeof m));
	SHOW(bind(MUST(socket(AF_INET6, SOCK_STREAM, 0)), (struct sockaddr *)&m, sizeof m));
	SHOW(bind(MUST(socket(AF_INET6, SOCK_STREAM, 0)), (struct sockaddr *)&far, sizeof far));
	m.sin6_scope_id = 77;
	SHOW(bind(MUST(socket(AF_INET6, SOCK_DGRAM, 0)), (struct sockaddr *)&m, sizeof m));
	m.sin6_scope_id = if_nametoindex("lo");
	SHOW(bind(u6 = MUST(socket(AF_INET6, SOCK_DGRAM, 0)), (struct sockaddr *)&m, sizeof m));

	const char *nobody[] = {"255.255.255.255", "127.255.255.255", "224.0.0.1"};
	for (int i = 0; i < 3; i++) {
		b.sin_addr.s_addr = inet_addr(nobody[i]), b.sin_port = 0;
		c = MUST(socket(AF_INET, SOCK_STREAM, 0));
		SHOW(bind(c, (struct sockaddr *)&b, sizeof b));
		b = loopback(1);
		SHOW(connect(c, (struct sockaddr *)&b, sizeof b));
	}
}
