// Timers behind descriptors: once, again and again, absolute, disarmed.
#include "guest.h"
#include <sys/timerfd.h>

int main(void)
{
	struct itimerspec it = {{0, 0}, {0, 20000000}}, old;
	uint64_t n;
	int t = MUST(timerfd_create(CLOCK_MONOTONIC, 0));
	SHOW(timerfd_gettime(t, &old));
	SURE(old.it_value.tv_sec == 0 && old.it_value.tv_nsec == 0);
	SHOW(timerfd_settime(t, 0, &it, NULL));
	SHOW(timerfd_gettime(t, &old));
	SURE(old.it_value.tv_nsec > 0 && old.it_value.tv_nsec <= 20000000);
	long from = now_ms();
	SHOW(read(t, &n, 8));
	SHOW(n);
	SURE(now_ms() - from >= 18);
	fcntl(t, F_SETFL, O_NONBLOCK);
	SHOW(read(t, &n, 8));
	it.it_interval.tv_nsec = 10000000;
	SHOW(timerfd_settime(t, 0, &it, NULL));
	nap(75);
	SHOW(read(t, &n, 8));
	SURE(n >= 5);
	SHOW(timerfd_settime(t, 0, &(struct itimerspec){0}, &old));
	SURE(old.it_interval.tv_nsec == 10000000);
	nap(20);
	SHOW(read(t, &n, 8));
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	it = (struct itimerspec){{0, 0}, {now.tv_sec - 1, now.tv_nsec}};
	SHOW(timerfd_settime(t, TFD_TIMER_ABSTIME, &it, NULL));
	nap(5);
	SHOW(read(t, &n, 8));
	SHOW(n);
	clock_gettime(CLOCK_REALTIME, &now);
	int r = MUST(timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC));
	now.tv_nsec += 20000000;
	if (now.tv_nsec >= 1000000000)
		now.tv_sec++, now.tv_nsec -= 1000000000;
	it.it_value = now;
	SHOW(timerfd_settime(r, TFD_TIMER_ABSTIME, &it, NULL));
	SHOW(read(r, &n, 8));
	SHOW(n);
}
