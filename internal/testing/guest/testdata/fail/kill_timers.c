// Timers and alarms die with a process; one that it had shared goes on.
#include "kill.h"
#include <sys/timerfd.h>

static int t;

static void act(void)
{
	struct itimerspec in = {{0, 0}, {0, 30000000}};
	MUST(timerfd_settime(t, 0, &in, NULL));
	alarm(1);
}

int main(void)
{
	uint64_t n = 0;
	MUST(t = timerfd_create(CLOCK_MONOTONIC, 0));
	slay(victim(act));
	wait_for("the timer", t, POLLIN);
	SHOW(read(t, &n, 8));
	printf("%d\n", (int)n);
}
