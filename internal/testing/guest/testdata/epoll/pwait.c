// epoll_pwait lets a blocked signal through for the time of its wait.
#include "epoll.h"

static volatile sig_atomic_t got;
static void handler(int sig) { got = sig; }

int main(void)
{
	int ep = MUST(epoll_create1(0));
	struct epoll_event e;
	sigset_t usr, none, now;
	sigemptyset(&none);
	sigemptyset(&usr);
	sigaddset(&usr, SIGUSR1);
	on(SIGUSR1, handler, 0);
	sigprocmask(SIG_BLOCK, &usr, NULL);
	raise(SIGUSR1);
	SHOW(epoll_wait(ep, &e, 1, 10));
	SURE(got == 0);
	SHOW(epoll_pwait(ep, &e, 1, -1, &none));
	SURE(got == SIGUSR1);
	sigprocmask(SIG_SETMASK, NULL, &now);
	SURE(sigismember(&now, SIGUSR1));
}
