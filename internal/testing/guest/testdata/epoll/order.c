// With room for one event, each ready descriptor has its turn.
#include "epoll.h"

int main(void)
{
	int ep = MUST(epoll_create1(0)), p[3][2];
	static const char *n[] = {"first", "second", "third"};
	for (int i = 0; i < 3; i++) {
		MUST(pipe(p[i]));
		names[p[i][0]] = n[i];
		MUST(ctl(ep, EPOLL_CTL_ADD, p[i][0], EPOLLIN));
	}
	for (int i = 2; i >= 0; i--)
		MUST(write(p[i][1], "x", 1));
	for (int i = 0; i < 6; i++)
		ready(ep, 1, 0);
	ready(ep, 2, 0);
	ready(ep, 2, 0);
	ready(ep, 8, 0);
}
