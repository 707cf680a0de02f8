// Time-outs of epoll_wait and epoll_pwait2, and signals in between.
#include "epoll.h"

int main(void)
{
	int ep = MUST(epoll_create1(0));
	struct epoll_event e;
	struct timespec ts = {0, 20000000};
	long t = now_ms();
	SHOW(epoll_wait(ep, &e, 1, 30));
	SURE(now_ms() - t >= 29);
	t = now_ms();
	SHOW(syscall(SYS_epoll_pwait2, ep, &e, 1, &ts, NULL, 0));
	SURE(now_ms() - t >= 19);
	on(SIGALRM, nothing, SA_RESTART);
	ring(20);
	SHOW(epoll_wait(ep, &e, 1, -1));
	SHOW(epoll_wait(ep, &e, 1, 5000));
}
