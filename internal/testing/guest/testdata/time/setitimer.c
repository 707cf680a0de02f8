// Interval timers: repeated, read back, stopped, refused.
#include "guest.h"

static volatile sig_atomic_t rings;
static void rang(int sig) { rings++; }

int main(void)
{
	struct itimerval it = {{0, 10000}, {0, 20000}}, old, bad = {{0, 0}, {0, 1000000}}, zero = {0};
	on(SIGALRM, rang, 0);
	SHOW(setitimer(ITIMER_REAL, &it, NULL));
	while (rings < 4)
		pause();
	SHOW(getitimer(ITIMER_REAL, &old));
	SURE(old.it_interval.tv_usec == 10000 && old.it_value.tv_usec <= 10000);
	SHOW(setitimer(ITIMER_REAL, &zero, &old));
	SURE(old.it_interval.tv_usec == 10000);
	int r = rings;
	nap(40);
	SURE(rings == r);
	SHOW(getitimer(ITIMER_REAL, &old));
	SURE(old.it_value.tv_sec == 0 && old.it_value.tv_usec == 0);
	SHOW(setitimer(ITIMER_REAL, &bad, NULL));
	SHOW(setitimer(9, &it, NULL));
	SHOW(getitimer(ITIMER_VIRTUAL, &old));
	SURE(old.it_value.tv_sec == 0);
}
