// Ends that go away wake who polls.
#include "guest.h"

static int p[2];

static void *closer(void *end)
{
	nap(30);
	close(p[(long)end]);
	return NULL;
}

static void wait_on(int fd, short ev)
{
	struct pollfd f = {.fd = fd, .events = ev};
	SHOW(poll(&f, 1, 5000));
	printf("%s\n", events(f.revents));
}

int main(void)
{
	static char b[1 << 16];
	MUST(pipe(p));
	pthread_t t = start(closer, (void *)1);
	wait_on(p[0], POLLIN);
	pthread_join(t, NULL);
	MUST(pipe(p));
	MUST(write(p[1], b, sizeof b));
	t = start(closer, (void *)0);
	wait_on(p[1], POLLOUT);
	pthread_join(t, NULL);
	MUST(pipe(p));
	MUST(write(p[1], "data", 4));
	close(p[1]);
	wait_on(p[0], POLLIN);
	SHOW(read(p[0], b, 10));
	wait_on(p[0], POLLIN);
}
