// Who only reads the processor's counter sees that timers have expired which its time has passed.
#include "guest.h"
#include <x86intrin.h>

static volatile sig_atomic_t rung;
static void ring_once(int sig) { (void)sig; rung++; }

static void until(int after)
{
	for (long end = now_ms() + after; now_ms() < end;)
		;
}

int main(void)
{
	uint64_t a = __rdtsc();
	until(10);
	uint64_t ms = (__rdtsc() - a) / 10;
	signal(SIGALRM, ring_once);
	struct itimerval it = {{0, 0}, {0, 5000}};
	MUST(setitimer(ITIMER_REAL, &it, NULL));
	for (a = __rdtsc(); __rdtsc() - a < 20 * ms;)
		;
	until(1);
	char host[64] = "";
	gethostname(host, sizeof host - 1); // in Ariadne's node no timer is late
	for (long end = now_ms() + 30000; strcmp(host, "guest") && !rung && now_ms() < end;)
		;
	SURE(rung == 1);
}
