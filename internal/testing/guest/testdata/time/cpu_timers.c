// Timers of processor time expire when so much was used, not while the process sleeps.
#include "guest.h"

static volatile sig_atomic_t rings;
static void rang(int sig) { rings++; }

static void works(int until)
{
	while (rings < until)
		syscall(SYS_getppid);
}

static void *sleeper(void *x)
{
	nap(60);
	return x;
}

int main(void)
{
	struct itimerval it = {{0}, {0, 5000}}, every = {{0, 2000}, {0, 2000}}, none = {{0}}, left;
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec ts = {{0}, {0, 5000000}}, rest, off = {{0}};
	timer_t t;
	on(SIGVTALRM, rang, 0);
	on(SIGPROF, rang, 0);
	on(SIGUSR1, rang, 0);

	SHOW(setitimer(ITIMER_PROF, &it, NULL));
	nap(60);
	SHOW(rings);
	SHOW(getitimer(ITIMER_PROF, &left));
	SURE(left.it_value.tv_sec == 0 && left.it_value.tv_usec > 0);
	works(1);
	SHOW(rings);
	SHOW(getitimer(ITIMER_PROF, &left));
	SURE(left.it_value.tv_usec == 0);

	SHOW(setitimer(ITIMER_VIRTUAL, &every, NULL));
	nap(60);
	SHOW(rings);
	works(3);
	SHOW(setitimer(ITIMER_VIRTUAL, &none, &left));
	SURE(left.it_interval.tv_usec == 2000);
	rings = 0;

	static const clockid_t clocks[] = {CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID};
	for (int i = 0; i < 2; i++) {
		rings = 0;
		SHOW(timer_create(clocks[i], &ev, &t));
		SHOW(timer_settime(t, 0, &ts, NULL));
		nap(60);
		SHOW(rings);
		SHOW(timer_gettime(t, &rest));
		SURE(rest.it_value.tv_sec == 0 && rest.it_value.tv_nsec > 0);
		works(1);
		SHOW(timer_settime(t, TIMER_ABSTIME, &(struct itimerspec){{0}, {0, 1}}, NULL));
		works(2);
		SHOW(timer_settime(t, 0, &ts, NULL));
		SHOW(timer_settime(t, 0, &off, &rest));
		SURE(rest.it_value.tv_nsec > 0);
		SHOW(timer_delete(t));
	}

	// The time of a thread is not that of another one.
	pthread_t other;
	clockid_t its;
	rings = 0;
	MUST(pthread_create(&other, NULL, sleeper, NULL));
	MUST(pthread_getcpuclockid(other, &its));
	SHOW(timer_create(its, &ev, &t));
	SHOW(timer_settime(t, 0, &ts, NULL));
	pthread_join(other, NULL);
	SHOW(rings);
	SHOW(timer_delete(t));
}
