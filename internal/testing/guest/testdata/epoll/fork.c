// A child shares the set of its parent.
#include "epoll.h"

int main(void)
{
	int ep = MUST(epoll_create1(0)), p[2];
	MUST(pipe(p));
	names[p[0]] = "reader";
	MUST(ctl(ep, EPOLL_CTL_ADD, p[0], EPOLLIN));
	pid_t child = fork();
	if (child == 0) {
		MUST(write(p[1], "x", 1));
		ready(ep, 8, 1000);
		MUST(ctl(ep, EPOLL_CTL_DEL, p[0], 0));
		_exit(0);
	}
	show_wait("child", child);
	ready(ep, 8, 0);
	SHOW(ctl(ep, EPOLL_CTL_ADD, p[0], EPOLLIN));
	ready(ep, 8, 0);
}
