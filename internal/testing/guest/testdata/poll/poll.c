// poll: several descriptors, ignored ones, closed ones, time-outs.
#include "guest.h"

int main(void)
{
	int a[2], b[2];
	MUST(pipe(a));
	MUST(pipe(b));
	int gone = dup(a[0]);
	close(gone);
	struct pollfd f[5] = {{a[0], POLLIN, 0}, {b[0], POLLIN, 0}, {a[1], POLLOUT, 0}, {gone, POLLIN, 0}, {-1, POLLIN, 77}};
	SHOW(poll(f, 5, 0));
	for (int i = 0; i < 5; i++)
		printf("%d: %s\n", i, events(f[i].revents));
	MUST(write(b[1], "x", 1));
	SHOW(poll(f, 2, -1));
	printf("%s, %s\n", events(f[0].revents), events(f[1].revents));
	long t = now_ms();
	SHOW(poll(f, 1, 30));
	SURE(now_ms() - t >= 29);
	SHOW(poll(NULL, 0, 10));
	struct rlimit r = {4, 4};
	MUST(setrlimit(RLIMIT_NOFILE, &r));
	SHOW(poll(f, 5, 0));
}
