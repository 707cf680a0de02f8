// Calls on sockets with time limits fail with EAGAIN, after as much time.
#include "net.h"

static char big[1 << 20];

int main(void)
{
	int s[2];
	char b[8];
	struct timeval t = {0, 50000};
	tcp_pair(s);
	MUST(setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t));
	MUST(setsockopt(s[0], SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t));
	long before = now_ms();
	SHOW(recv(s[0], b, 8, 0));
	SURE(now_ms() - before >= 49);
	while (send(s[0], big, sizeof big, 0) > 0)
		;
	SHOW(send(s[0], big, 1, MSG_DONTWAIT));
	SHOW(send(s[0], big, 1, 0));
	struct sockaddr_in a;
	int l = listener(&a);
	MUST(setsockopt(l, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t));
	SHOW(accept(l, NULL, NULL));
	int u = bound(SOCK_DGRAM, &a);
	MUST(setsockopt(u, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t));
	SHOW(recv(u, b, 8, 0));
	t.tv_usec = 1000000;
	SHOW(setsockopt(u, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t));
	t = (struct timeval){-1, 0};
	SHOW(setsockopt(u, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t));
	SHOW(recv(u, b, 8, 0));
}
