// Connections whose other end has gone before accept: closed, with data, or reset.
#include "net.h"

static void one(const char *how, int data, int reset)
{
	struct sockaddr_in a;
	struct linger now = {1, 0};
	char b[8];
	int l = listener(&a), c = dial(&a);
	if (data)
		MUST(write(c, "data", 4));
	if (reset)
		MUST(setsockopt(c, SOL_SOCKET, SO_LINGER, &now, sizeof now));
	close(c);
	nap(20);
	wait_for(how, l, POLLIN);
	int s = MUST(accept(l, NULL, NULL));
	SHOW(recv(s, b, 8, MSG_DONTWAIT));
	SHOW(recv(s, b, 8, MSG_DONTWAIT));
	SHOW(getpeername(s, (void *)&a, &(socklen_t){sizeof a}));
	SHOW(send(s, "x", 1, MSG_NOSIGNAL));
	close(s);
	close(l);
}

int main(void)
{
	one("closed", 0, 0);
	one("closed with data", 1, 0);
	one("reset", 0, 1);
	one("reset with data", 1, 1);
}
