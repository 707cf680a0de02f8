// A closed descriptor leaves the set only with its open file.
#include "epoll.h"

int main(void)
{
	int ep = MUST(epoll_create1(0)), p[2];
	MUST(pipe(p));
	names[p[0]] = "reader";
	int d = dup(p[0]);
	names[d] = "duplicate";
	SHOW(ctl(ep, EPOLL_CTL_ADD, p[0], EPOLLIN));
	MUST(write(p[1], "x", 1));
	ready(ep, 8, 0);
	close(p[0]);
	ready(ep, 8, 0);
	SHOW(ctl(ep, EPOLL_CTL_DEL, p[0], 0));
	SHOW(ctl(ep, EPOLL_CTL_ADD, d, EPOLLIN));
	ready(ep, 8, 0);
	close(d);
	ready(ep, 8, 0);
	int q[2];
	MUST(pipe(q));
	SURE(q[0] == p[0]);
	SHOW(ctl(ep, EPOLL_CTL_ADD, q[0], EPOLLIN));
	MUST(write(q[1], "x", 1));
	ready(ep, 8, 0);
}
