// pselect with a signal mask: the signal that waited comes during the call.
#include "guest.h"

static volatile sig_atomic_t got;
static void handler(int sig) { got = sig; }

int main(void)
{
	sigset_t usr, none;
	fd_set r;
	int p[2];
	struct timespec some = {0, 20000000};
	MUST(pipe(p));
	on(SIGUSR1, handler, 0);
	sigemptyset(&none);
	sigemptyset(&usr);
	sigaddset(&usr, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr, NULL);
	pid_t child = fork();
	if (child == 0) {
		nap(30);
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	FD_ZERO(&r);
	FD_SET(p[0], &r);
	SHOW(pselect(p[0] + 1, &r, NULL, NULL, NULL, &none));
	SURE(got == SIGUSR1);
	show_wait("child", child);
	got = 0;
	raise(SIGUSR1);
	FD_ZERO(&r);
	FD_SET(p[0], &r);
	SHOW(pselect(p[0] + 1, &r, NULL, NULL, &some, NULL));
	SURE(got == 0);
	printf("time-out stays %ld ns\n", some.tv_nsec);
	MUST(write(p[1], "x", 1));
	FD_SET(p[0], &r);
	SHOW(pselect(p[0] + 1, &r, NULL, NULL, &some, &usr));
	SURE(got == 0);
}
