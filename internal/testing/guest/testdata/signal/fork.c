// A child has its parent's handlers and mask, but none of its pending signals or timers.
#include "guest.h"

static volatile sig_atomic_t count;
static void handler(int sig) { count++; }

int main(void)
{
	sigset_t s, pend;
	struct itimerval it = {{0, 0}, {100, 0}};
	on(SIGUSR1, handler, 0);
	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	sigprocmask(SIG_BLOCK, &s, NULL);
	raise(SIGUSR1);
	setitimer(ITIMER_REAL, &it, NULL);
	pid_t child = fork();
	if (child == 0) {
		sigpending(&pend);
		SURE(!sigismember(&pend, SIGUSR1));
		getitimer(ITIMER_REAL, &it);
		SURE(it.it_value.tv_sec == 0);
		raise(SIGUSR1);
		sigprocmask(SIG_UNBLOCK, &s, NULL);
		SHOW(count);
		_exit(0);
	}
	show_wait("child", child);
	sigprocmask(SIG_UNBLOCK, &s, NULL);
	SHOW(count);
}
