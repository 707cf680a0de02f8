// Descriptors added, and made ready, while another thread waits.
#include "epoll.h"

static int ep, p[2], q[2];

static void *waiter(void *x)
{
	ready(ep, 8, -1);
	return x;
}

int main(void)
{
	ep = MUST(epoll_create1(0));
	MUST(pipe(p));
	MUST(pipe(q));
	names[p[0]] = "added later", names[q[1]] = "changed later";
	pthread_t t = start(waiter, NULL);
	rest(0);
	MUST(ctl(ep, EPOLL_CTL_ADD, p[0], EPOLLIN));
	rest(0);
	MUST(write(p[1], "x", 1));
	pthread_join(t, NULL);
	MUST(ctl(ep, EPOLL_CTL_DEL, p[0], 0));
	MUST(ctl(ep, EPOLL_CTL_ADD, q[1], EPOLLIN));
	t = start(waiter, NULL);
	rest(0);
	MUST(ctl(ep, EPOLL_CTL_MOD, q[1], EPOLLOUT));
	pthread_join(t, NULL);
}
