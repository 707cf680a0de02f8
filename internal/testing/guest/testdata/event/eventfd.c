// A counter behind a descriptor: sums, semaphores, the largest value.
#include "guest.h"
#include <sys/eventfd.h>

static void state(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN | POLLOUT};
	poll(&p, 1, 0);
	printf("%s\n", events(p.revents));
}

int main(void)
{
	uint64_t v = 3;
	int e = MUST(eventfd(2, EFD_NONBLOCK | EFD_CLOEXEC));
	SHOW(fcntl(e, F_GETFD));
	state(e);
	SHOW(write(e, &v, 8));
	SHOW(read(e, &v, 8));
	SHOW(v);
	SHOW(read(e, &v, 8));
	state(e);
	SHOW(read(e, &v, 7));
	SHOW(write(e, &v, 7));
	v = UINT64_MAX;
	SHOW(write(e, &v, 8));
	v = UINT64_MAX - 1;
	SHOW(write(e, &v, 8));
	state(e);
	v = 1;
	SHOW(write(e, &v, 8));
	SHOW(read(e, &v, 16));
	SURE(v == UINT64_MAX - 1);
	int s = MUST(eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK));
	SHOW(read(s, &v, 8));
	SHOW(v);
	SHOW(read(s, &v, 8));
	SHOW(read(s, &v, 8));
	SHOW(eventfd(0, 0x40));
}
