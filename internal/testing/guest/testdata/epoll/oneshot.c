// EPOLLONESHOT: reported once, then silent until re-armed.
#include "epoll.h"

int main(void)
{
	int ep = MUST(epoll_create1(0)), p[2];
	MUST(pipe(p));
	names[p[0]] = "reader";
	SHOW(ctl(ep, EPOLL_CTL_ADD, p[0], EPOLLIN | EPOLLONESHOT));
	MUST(write(p[1], "a", 1));
	ready(ep, 8, 0);
	ready(ep, 8, 0);
	MUST(write(p[1], "b", 1));
	ready(ep, 8, 0);
	SHOW(ctl(ep, EPOLL_CTL_MOD, p[0], EPOLLIN | EPOLLONESHOT));
	ready(ep, 8, 0);
	close(p[1]);
	ready(ep, 8, 0);
	SHOW(ctl(ep, EPOLL_CTL_MOD, p[0], EPOLLIN));
	ready(ep, 8, 0);
	ready(ep, 8, 0);
}
