// Blocked signals wait; a standard one waits once, however often sent.
#include "guest.h"

static volatile sig_atomic_t count;
static void handler(int sig) { count++; }

int main(void)
{
	sigset_t s, old, pend;
	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	on(SIGUSR1, handler, 0);
	SHOW(sigprocmask(SIG_BLOCK, &s, &old));
	SURE(!sigismember(&old, SIGUSR1));
	for (int i = 0; i < 3; i++)
		raise(SIGUSR1);
	SHOW(count);
	SHOW(sigpending(&pend));
	SURE(sigismember(&pend, SIGUSR1));
	SURE(!sigismember(&pend, SIGUSR2));
	SHOW(sigprocmask(SIG_UNBLOCK, &s, NULL));
	SHOW(count);
	sigpending(&pend);
	SURE(!sigismember(&pend, SIGUSR1));
	SHOW(sigprocmask(99, &s, NULL));
	SHOW(sigprocmask(99, NULL, &old));
	sigfillset(&s);
	SHOW(sigprocmask(SIG_SETMASK, &s, NULL));
	sigprocmask(SIG_SETMASK, NULL, &old);
	SURE(!sigismember(&old, SIGKILL) && !sigismember(&old, SIGSTOP) && sigismember(&old, SIGTERM));
	raise(SIGUSR1);
	signal(SIGUSR1, SIG_IGN);
	sigpending(&pend);
	SURE(!sigismember(&pend, SIGUSR1));
}
