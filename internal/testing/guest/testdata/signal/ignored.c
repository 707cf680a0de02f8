// Signals whose default is to be ignored wait while they are blocked, and are gone when
// they no longer are.
#include "guest.h"
#include <sys/signalfd.h>

static void pending(const char *when)
{
	sigset_t set;
	MUST(sigpending(&set));
	printf("%s:", when);
	for (int s = 1; s < 65; s++)
		if (sigismember(&set, s) == 1)
			printf(" %d", s);
	printf("\n");
}

static void fill(int whole)
{
	int all[] = {SIGURG, SIGWINCH, SIGCONT, SIGCHLD, SIGUSR1};
	for (int i = 0; i < 5; i++)
		MUST(whole ? kill(getpid(), all[i]) : raise(all[i]));
}

int main(void)
{
	sigset_t all, none, some;
	sigfillset(&all);
	sigemptyset(&none);
	sigemptyset(&some);
	sigaddset(&some, SIGWINCH);
	sigaddset(&some, SIGUSR1);
	for (int whole = 0; whole < 2; whole++) {
		signal(SIGUSR1, nothing);
		fill(whole);
		pending("not blocked");
		MUST(sigprocmask(SIG_SETMASK, &all, NULL));
		fill(whole);
		pending("blocked");
		MUST(sigprocmask(SIG_UNBLOCK, &some, NULL));
		pending("some unblocked");
		MUST(sigprocmask(SIG_SETMASK, &all, NULL));
		pending("blocked again");
		int fd = MUST(signalfd(-1, &all, SFD_NONBLOCK));
		struct signalfd_siginfo si;
		while (read(fd, &si, sizeof si) > 0)
			printf("signalfd %d\n", si.ssi_signo);
		close(fd);
		fill(whole);
		struct timespec now = {0};
		SHOW(sigtimedwait(&some, NULL, &now) > 0);
		struct pollfd p;
		SHOW(ppoll(&p, 0, &now, &none));
		pending("after ppoll without a mask");
		MUST(sigprocmask(SIG_SETMASK, &none, NULL));
		pending("not blocked");
		MUST(sigprocmask(SIG_SETMASK, &all, NULL));
		pending("blocked at last");
		MUST(sigprocmask(SIG_SETMASK, &none, NULL));
	}
	return 0;
}
