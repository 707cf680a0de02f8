// A set that was inherited goes on; what only the killed process had leaves it.
#include "kill.h"
#include <sys/epoll.h>

static int set, p[2];

static void act(void)
{
	int q[2];
	struct epoll_event e = {.events = EPOLLOUT, .data.u32 = 2};
	MUST(pipe(q));
	MUST(epoll_ctl(set, EPOLL_CTL_ADD, q[1], &e));
}

int main(void)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = 1}, got[4];
	MUST(set = epoll_create1(0));
	MUST(pipe(p));
	MUST(epoll_ctl(set, EPOLL_CTL_ADD, p[0], &e));
	pid_t v = victim(act);
	SHOW(epoll_wait(set, got, 4, 0));
	printf("%u\n", got[0].data.u32);
	slay(v);
	SHOW(epoll_wait(set, got, 4, 0));
	MUST(write(p[1], "x", 1));
	SHOW(epoll_wait(set, got, 4, 0));
	printf("%u\n", got[0].data.u32);
}
