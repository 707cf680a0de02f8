// getsockname and getpeername before and after bind and connect.
#include "net.h"

static void name(const char *what, int s)
{
	struct sockaddr_in a;
	socklen_t n = sizeof a;
	MUST(getsockname(s, (struct sockaddr *)&a, &n));
	printf("%s: %s, port %s\n", what, inet_ntoa(a.sin_addr), a.sin_port ? "set" : "0");
}

int main(void)
{
	struct sockaddr_in a, b, small = {0};
	socklen_t n = sizeof a;
	int s = MUST(socket(AF_INET, SOCK_STREAM, 0));
	name("new", s);
	SHOW(getpeername(s, (struct sockaddr *)&a, &n));
	int l = listener(&b);
	name("listener", l);
	SHOW(connect(s, (struct sockaddr *)&b, sizeof b));
	name("connected", s);
	SHOW(getpeername(s, (struct sockaddr *)&a, &n));
	SURE(a.sin_port == b.sin_port);
	int c = accept(l, (struct sockaddr *)&a, &n);
	n = sizeof b;
	MUST(getsockname(s, (struct sockaddr *)&b, &n));
	SURE(a.sin_port == b.sin_port);
	n = 4;
	SHOW(getsockname(c, (struct sockaddr *)&small, &n));
	printf("family %d, address %u, length %u\n", small.sin_family, small.sin_addr.s_addr, n);
	n = -1;
	SHOW(getsockname(c, (struct sockaddr *)&small, &n));
	SHOW(getsockname(0x1000, (struct sockaddr *)&small, &n));
	struct sockaddr_in any = {.sin_family = AF_INET};
	int u = MUST(socket(AF_INET, SOCK_STREAM, 0));
	SHOW(bind(u, (struct sockaddr *)&any, sizeof any));
	name("bound to any", u);
}
