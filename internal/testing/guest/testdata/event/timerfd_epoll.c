// Three timers in one set fire in the order of their deadlines.
#include "guest.h"
#include <sys/epoll.h>
#include <sys/timerfd.h>

int main(void)
{
	int ep = MUST(epoll_create1(0)), ms[] = {60, 20, 40};
	for (int i = 0; i < 3; i++) {
		struct itimerspec it = {{0, 0}, {0, ms[i] * 1000000L}};
		struct epoll_event e = {.events = EPOLLIN, .data.u32 = i};
		int t = MUST(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK));
		MUST(timerfd_settime(t, 0, &it, NULL));
		e.data.u64 = (uint64_t)t << 32 | i;
		MUST(epoll_ctl(ep, EPOLL_CTL_ADD, t, &e));
	}
	for (int i = 0; i < 3; i++) {
		struct epoll_event e;
		uint64_t n;
		MUST(epoll_wait(ep, &e, 1, -1));
		MUST(read(e.data.u64 >> 32, &n, 8));
		printf("timer of %d ms fired %lu times\n", ms[e.data.u64 & 0xff], n);
	}
	struct epoll_event e;
	SHOW(epoll_wait(ep, &e, 1, 50));
}
