// A timer of processor time sends its signal to a thread that makes no call.
// guest: spins
#include "guest.h"

static volatile sig_atomic_t rings;
static void rang(int sig) { rings += sig == SIGPROF; }

int main(void)
{
	struct itimerval it = {{0}, {0, 10000}};
	on(SIGPROF, rang, 0);
	SHOW(setitimer(ITIMER_PROF, &it, NULL));
	while (!rings)
		;
	SHOW(rings);
	SHOW(setitimer(ITIMER_PROF, &it, NULL));
	while (rings < 2) // looks at the clock without a call
		now_ms();
	SHOW(rings);
}
