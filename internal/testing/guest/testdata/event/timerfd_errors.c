// What timerfd refuses, and what poll says.
#include "guest.h"
#include <sys/timerfd.h>

int main(void)
{
	struct itimerspec bad = {{0, 0}, {0, 1000000000}}, soon = {{0, 0}, {0, 1}};
	char b[16];
	int t = MUST(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK));
	struct pollfd f = {.fd = t, .events = POLLIN | POLLOUT};
	SHOW(timerfd_create(CLOCK_PROCESS_CPUTIME_ID, 0));
	SHOW(timerfd_create(CLOCK_MONOTONIC, 1));
	SHOW(timerfd_settime(t, 0, &bad, NULL));
	SHOW(timerfd_settime(t, 8, &soon, NULL));
	SHOW(timerfd_settime(0x1000, 0, &soon, NULL));
	SHOW(timerfd_settime(0, 0, &soon, NULL));
	SHOW(timerfd_settime(t, 0, NULL, NULL));
	SHOW(poll(&f, 1, 0));
	SHOW(timerfd_settime(t, 0, &soon, NULL));
	SHOW(poll(&f, 1, 1000));
	printf("%s\n", events(f.revents));
	SHOW(read(t, b, 4));
	SHOW(write(t, b, 8));
	SHOW(read(t, b, 16));
	SHOW(read(t, b, 8));
}
