// sigsuspend waits with another mask and puts the old one back.
#include "guest.h"

static volatile sig_atomic_t got;
static void handler(int sig) { got = sig; }

int main(void)
{
	sigset_t usr, all, now;
	sigemptyset(&usr);
	sigaddset(&usr, SIGUSR1);
	sigfillset(&all);
	sigdelset(&all, SIGUSR1);
	on(SIGUSR1, handler, 0);
	on(SIGUSR2, handler, 0);
	sigprocmask(SIG_BLOCK, &usr, NULL);
	pid_t child = fork();
	if (child == 0) {
		rest(getppid());
		kill(getppid(), SIGUSR2);
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	SHOW(sigsuspend(&all));
	printf("last was %s\n", sigabbrev_np(got));
	sigprocmask(SIG_SETMASK, NULL, &now);
	SURE(sigismember(&now, SIGUSR1) && !sigismember(&now, SIGUSR2));
	show_wait("child", child);
}
