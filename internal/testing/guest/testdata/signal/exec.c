// Through exec: ignored stays ignored, handlers are reset, blocked and pending stay.
#include "guest.h"

int main(int argc, char **argv)
{
	sigset_t s, pend;
	struct sigaction sa;
	if (argc == 1) {
		signal(SIGUSR1, SIG_IGN);
		on(SIGUSR2, nothing, 0);
		sigemptyset(&s);
		sigaddset(&s, SIGTERM);
		sigprocmask(SIG_BLOCK, &s, NULL);
		raise(SIGTERM);
		execl("/proc/self/exe", argv[0], "again", NULL);
		_exit(1);
	}
	sigaction(SIGUSR1, NULL, &sa);
	SURE(sa.sa_handler == SIG_IGN);
	sigaction(SIGUSR2, NULL, &sa);
	SURE(sa.sa_handler == SIG_DFL);
	sigprocmask(SIG_SETMASK, NULL, &s);
	SURE(sigismember(&s, SIGTERM));
	sigpending(&pend);
	SURE(sigismember(&pend, SIGTERM));
	sigprocmask(SIG_UNBLOCK, &s, NULL);
	printf("never\n");
}
