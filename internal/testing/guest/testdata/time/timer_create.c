// POSIX timers that send signals: which, with what, how often.
#include "guest.h"

static volatile sig_atomic_t count, value, code;
static void handler(int sig, siginfo_t *si, void *x)
{
	count++;
	value = si->si_value.sival_int;
	code = si->si_code;
}

int main(void)
{
	struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 1, .sigev_value.sival_int = 77};
	struct itimerspec it = {{0, 0}, {0, 20000000}}, now;
	timer_t t, u;
	MUST(sigaction(SIGRTMIN + 1, &sa, NULL));
	SHOW(timer_create(CLOCK_MONOTONIC, &ev, &t));
	SHOW(timer_gettime(t, &now));
	SURE(now.it_value.tv_nsec == 0);
	SHOW(timer_settime(t, 0, &it, NULL));
	SHOW(pause());
	SURE(count == 1 && value == 77 && code == SI_TIMER);
	it.it_interval.tv_nsec = 5000000;
	SHOW(timer_settime(t, 0, &it, NULL));
	while (count < 4)
		pause();
	SHOW(timer_gettime(t, &now));
	SURE(now.it_interval.tv_nsec == 5000000 && now.it_value.tv_nsec <= 5000000);
	sigset_t s;
	sigemptyset(&s);
	sigaddset(&s, SIGRTMIN + 1);
	sigprocmask(SIG_BLOCK, &s, NULL);
	nap(50);
	siginfo_t si;
	SURE(sigwaitinfo(&s, &si) == SIGRTMIN + 1);
	SURE(si.si_overrun >= 5);
	SURE(timer_getoverrun(t) == si.si_overrun);
	SHOW(timer_delete(t));
	SHOW(timer_delete(t));
	struct timespec zero = {0, 0};
	while (sigtimedwait(&s, &si, &zero) > 0)
		;
	ev.sigev_notify = SIGEV_NONE;
	SHOW(timer_create(CLOCK_REALTIME, &ev, &u));
	SHOW(timer_settime(u, 0, &it, NULL));
	nap(30);
	SHOW(timer_gettime(u, &now));
	SURE(now.it_value.tv_nsec <= 5000000);
	SHOW(timer_create(77, &ev, &t));
	ev.sigev_notify = 99;
	SHOW(timer_create(CLOCK_REALTIME, &ev, &t));
	it.it_value.tv_nsec = -1;
	SHOW(timer_settime(u, 0, &it, NULL));
}
