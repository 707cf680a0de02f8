// Sleeping until a time, on each clock.
#include "guest.h"

static struct timespec in(clockid_t c, int ms)
{
	struct timespec t;
	clock_gettime(c, &t);
	t.tv_nsec += ms * 1000000L;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void until(const char *name, clockid_t c)
{
	struct timespec t = in(c, 20), now;
	printf("%s: %s", name, errname(clock_nanosleep(c, TIMER_ABSTIME, &t, NULL)));
	clock_gettime(c, &now);
	printf(", %s\n", now.tv_sec > t.tv_sec || (now.tv_sec == t.tv_sec && now.tv_nsec >= t.tv_nsec) ? "in time" : "early");
}

int main(void)
{
	struct timespec past = {1, 0}, some = {0, 10000000}, rest = {7, 7}, t;
	until("monotonic", CLOCK_MONOTONIC);
	until("realtime", CLOCK_REALTIME);
	until("boottime", CLOCK_BOOTTIME);
	SHOWE(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &past, NULL));
	SHOWE(clock_nanosleep(CLOCK_REALTIME, 0, &some, NULL));
	SHOWE(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &some, NULL));
	SHOWE(clock_nanosleep(77, 0, &some, NULL));
	on(SIGALRM, nothing, SA_RESTART);
	t = in(CLOCK_MONOTONIC, 5000);
	ring(20);
	SHOWE(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, &rest));
	SURE(rest.tv_sec == 7);
}
