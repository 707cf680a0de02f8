// Level-triggered: reported as long as it holds.
#include "epoll.h"

int main(void)
{
	int ep = MUST(epoll_create1(EPOLL_CLOEXEC)), p[2];
	char b[8];
	SHOW(fcntl(ep, F_GETFD));
	MUST(pipe(p));
	names[p[0]] = "reader", names[p[1]] = "writer";
	SHOW(ctl(ep, EPOLL_CTL_ADD, p[0], EPOLLIN));
	SHOW(ctl(ep, EPOLL_CTL_ADD, p[1], EPOLLOUT));
	ready(ep, 8, 0);
	MUST(write(p[1], "abc", 3));
	ready(ep, 8, 0);
	ready(ep, 8, 0);
	MUST(read(p[0], b, 3));
	ready(ep, 8, 0);
	SHOW(ctl(ep, EPOLL_CTL_DEL, p[1], 0));
	ready(ep, 8, 20);
	close(p[1]);
	ready(ep, 8, 0);
	ready(ep, 8, 0);
	close(p[0]);
	ready(ep, 8, 0);
	SHOW(read(ep, b, 8));
}
