// EPOLLEXCLUSIVE: one arrival wakes one of the waiting sets.
#include "epoll.h"

enum { n = 4 };
static int fd, woken;

static void *waiter(void *x)
{
	struct epoll_event e;
	uint64_t v;
	int ep = MUST(epoll_create1(0));
	MUST(ctl(ep, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLEXCLUSIVE));
	if (epoll_wait(ep, &e, 1, 2000) == 1) {
		__sync_fetch_and_add(&woken, 1);
		MUST(read(fd, &v, 8));
	}
	return x;
}

int main(void)
{
	pthread_t t[n];
	fd = MUST(eventfd(0, EFD_SEMAPHORE));
	for (int i = 0; i < n; i++)
		t[i] = start(waiter, NULL);
	for (int i = 0; i < n; i++) {
		rest(0);
		MUST(eventfd_write(fd, 1));
		rest(0);
		SHOW(woken);
	}
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}
