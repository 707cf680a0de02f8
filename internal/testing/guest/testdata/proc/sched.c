// Scheduling classes, priorities and yielding.
#include "guest.h"

int main(void)
{
	struct sched_param p = {0};
	struct timespec t;
	SHOW(sched_getscheduler(0));
	SHOW(sched_getparam(0, &p));
	SHOW(p.sched_priority);
	SHOW(sched_setscheduler(0, SCHED_BATCH, &p));
	SHOW(sched_getscheduler(0));
	SHOW(sched_setscheduler(0, SCHED_OTHER, &p));
	p.sched_priority = 5;
	SHOW(sched_setscheduler(0, SCHED_OTHER, &p));
	SHOW(sched_setscheduler(0, 99, &p));
	SHOW(sched_get_priority_max(SCHED_FIFO));
	SHOW(sched_get_priority_min(SCHED_FIFO));
	SHOW(sched_get_priority_max(SCHED_OTHER));
	SHOW(sched_get_priority_max(99));
	SHOW(sched_rr_get_interval(0, &t));
	SHOW(sched_yield());
	errno = 0;
	SHOW(setpriority(PRIO_PROCESS, 0, 5));
	SHOW(getpriority(PRIO_PROCESS, 0));
	SHOW(nice(3));
	SHOW(nice(100));
	SHOW(getpriority(99, 0));
	SHOW(getpriority(PRIO_PROCESS, 999999));
	SHOW(sched_getscheduler(999999));
}
