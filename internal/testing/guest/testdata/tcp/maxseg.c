// TCP_MAXSEG, and connect on a socket that is connected, was refused or was shut down.
#include "net.h"
#include <netinet/tcp.h>

static void seg(int s, int v)
{
	int got = -1;
	socklen_t n = sizeof got;
	SHOW(v);
	SHOW(setsockopt(s, IPPROTO_TCP, TCP_MAXSEG, &v, sizeof v));
	SHOW(getsockopt(s, IPPROTO_TCP, TCP_MAXSEG, &got, &n));
	SHOW(got);
}

int main(void)
{
	int s = MUST(socket(AF_INET, SOCK_STREAM, 0)), l = MUST(socket(AF_INET, SOCK_STREAM, 0)), c;
	int clamps[] = {1, 1152, 1153, 0, 65535};
	for (int i = 0; i < 5; i++) {
		int got = -1;
		socklen_t n = sizeof got;
		SHOW(setsockopt(s, IPPROTO_TCP, TCP_WINDOW_CLAMP, &clamps[i], sizeof(int)));
		SHOW(getsockopt(s, IPPROTO_TCP, TCP_WINDOW_CLAMP, &got, &n));
		SHOW(got);
	}
	int values[] = {500, 0, 87, 88, 32767, 32768, -1, 1460, 0};
	for (int i = 0; i < 9; i++)
		seg(s, values[i]);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}, b;
	socklen_t n = sizeof a;
	MUST(bind(l, (struct sockaddr *)&a, sizeof a));
	MUST(getsockname(l, (struct sockaddr *)&a, &n));
	MUST(listen(l, 5));
	s = MUST(socket(AF_INET, SOCK_STREAM, 0));
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	c = SHOW(accept(l, 0, 0)) >= 0;
	SURE(c);
	struct sockaddr_in6 six = {.sin6_family = AF_INET6};
	struct sockaddr wrong = {.sa_family = 77}, none = {.sa_family = AF_UNSPEC};
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	SHOW(connect(s, (struct sockaddr *)&a, 15));
	SHOW(connect(s, (struct sockaddr *)&a, 3));
	SHOW(connect(s, (struct sockaddr *)&a, 1));
	SHOW(connect(s, (struct sockaddr *)&a, 0));
	SHOW(connect(s, (struct sockaddr *)&six, sizeof six));
	SHOW(connect(s, &wrong, sizeof wrong));
	SHOW(connect(l, (struct sockaddr *)&a, sizeof a));
	SHOW(connect(l, (struct sockaddr *)&a, 3));
	SHOW(shutdown(s, SHUT_RDWR));
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	SHOW(connect(s, &none, sizeof none));
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	// One that was connected without waiting, and was not asked since.
	s = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	struct pollfd p = {s, POLLOUT};
	SHOW(poll(&p, 1, 1000));
	SHOW(connect(s, (struct sockaddr *)&a, 3));
	SHOW(connect(s, &wrong, sizeof wrong));
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	SHOW(connect(s, (struct sockaddr *)&a, 3));
}
