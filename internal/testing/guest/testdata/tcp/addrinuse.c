// Who may bind an address twice, and which addresses nobody may.
#include "net.h"

static int sock(int reuse, int opt)
{
	int s = MUST(socket(AF_INET, SOCK_STREAM, 0));
	MUST(setsockopt(s, SOL_SOCKET, opt, &reuse, sizeof reuse));
	return s;
}

int main(void)
{
	struct sockaddr_in a, any;
	int l = listener(&a);
	SHOW(bind(sock(0, SO_REUSEADDR), (struct sockaddr *)&a, sizeof a));
	SHOW(bind(sock(1, SO_REUSEADDR), (struct sockaddr *)&a, sizeof a));
	any = a;
	any.sin_addr.s_addr = 0;
	SHOW(bind(sock(0, SO_REUSEADDR), (struct sockaddr *)&any, sizeof any));
	SHOW(bind(l, (struct sockaddr *)&a, sizeof a));
	close(l);
	SHOW(bind(sock(0, SO_REUSEADDR), (struct sockaddr *)&a, sizeof a));

	struct sockaddr_in b = loopback(0);
	socklen_t n = sizeof b;
	int s1 = sock(1, SO_REUSEADDR), s2 = sock(1, SO_REUSEADDR);
	SHOW(bind(s1, (struct sockaddr *)&b, sizeof b));
	MUST(getsockname(s1, (struct sockaddr *)&b, &n));
	SHOW(bind(s2, (struct sockaddr *)&b, sizeof b));
	SHOW(listen(s1, 1));
	SHOW(listen(s2, 1));

	struct sockaddr_in c = loopback(0);
	int p1 = sock(1, SO_REUSEPORT), p2 = sock(1, SO_REUSEPORT);
	SHOW(bind(p1, (struct sockaddr *)&c, sizeof c));
	MUST(getsockname(p1, (struct sockaddr *)&c, &n));
	SHOW(bind(p2, (struct sockaddr *)&c, sizeof c));
	SHOW(listen(p1, 1));
	SHOW(listen(p2, 1));

	struct sockaddr_in far = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xc6336401)};
	SHOW(bind(sock(0, SO_REUSEADDR), (struct sockaddr *)&far, sizeof far));
	SHOW(bind(sock(0, SO_REUSEADDR), (struct sockaddr *)&far, 4));
	far.sin_family = AF_UNIX;
	SHOW(bind(sock(0, SO_REUSEADDR), (struct sockaddr *)&far, sizeof far));
}
