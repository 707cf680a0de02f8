// Edge-triggered: reported once for each arrival.
#include "epoll.h"

int main(void)
{
	int ep = MUST(epoll_create1(0)), p[2];
	char b[8];
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
	names[p[0]] = "socket";
	MUST(write(p[1], "before", 6));
	SHOW(ctl(ep, EPOLL_CTL_ADD, p[0], EPOLLIN | EPOLLET));
	ready(ep, 8, 0);
	ready(ep, 8, 0);
	MUST(write(p[1], "more", 4));
	ready(ep, 8, 0);
	ready(ep, 8, 0);
	MUST(read(p[0], b, 2));
	ready(ep, 8, 0);
	MUST(write(p[1], "x", 1));
	MUST(write(p[1], "y", 1));
	ready(ep, 8, 0);
	ready(ep, 8, 0);
	SHOW(ctl(ep, EPOLL_CTL_MOD, p[0], EPOLLIN | EPOLLET));
	ready(ep, 8, 0);
	ready(ep, 8, 0);
	close(p[1]);
	ready(ep, 8, 0);
	ready(ep, 8, 0);
}
