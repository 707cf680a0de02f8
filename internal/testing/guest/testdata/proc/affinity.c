// Which processors a thread may use.
#include "guest.h"

static void *inherits(void *x)
{
	cpu_set_t s;
	MUST(sched_getaffinity(0, sizeof s, &s));
	SHOW(CPU_COUNT(&s));
	return x;
}

int main(void)
{
	cpu_set_t s;
	unsigned cpu, node;
	SHOW(sched_getaffinity(0, sizeof s, &s));
	SURE(CPU_COUNT(&s) >= 1);
	SURE(sysconf(_SC_NPROCESSORS_ONLN) >= 1);
	CPU_ZERO(&s);
	CPU_SET(0, &s);
	SHOW(sched_setaffinity(0, sizeof s, &s));
	SHOW(sched_getaffinity(0, sizeof s, &s));
	SHOW(CPU_COUNT(&s));
	SHOW(getcpu(&cpu, &node));
	SHOW(cpu);
	SHOW(sched_getcpu());
	pthread_join(start(inherits, NULL), NULL);
	CPU_ZERO(&s);
	SHOW(sched_setaffinity(0, sizeof s, &s));
	SHOW(sched_getaffinity(0, 1, &s));
	SHOW(sched_getaffinity(999999, sizeof s, &s));
	char big[4096] = {1};
	SHOW(syscall(SYS_sched_setaffinity, 0, sizeof big, big));
}
