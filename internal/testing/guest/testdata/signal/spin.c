// A timer's signal comes to the only thread while it computes, and while it looks at
// the clock without a call.
// guest: spins
#include "guest.h"

static volatile sig_atomic_t rings;
static void rang(int sig) { rings += sig == SIGALRM; }

int main(void)
{
	on(SIGALRM, rang, 0);
	ualarm(10000, 0);
	while (!rings)
		;
	SHOW(rings);
	ualarm(10000, 0);
	for (long n = 0; rings < 2; n++)
		now_ms();
	SHOW(rings);
}
