// guest: root
// At the limit of queued signals sigqueue fails with EAGAIN; kill does not.
#include "guest.h"

int main(void)
{
	struct rlimit l = {2, 2};
	MUST(setgid(54322));
	MUST(setuid(54322)); // nobody else's
	sigset_t s;
	siginfo_t i;
	sigemptyset(&s);
	sigaddset(&s, SIGRTMIN);
	sigaddset(&s, SIGUSR1);
	sigaddset(&s, SIGRTMIN + 1);
	MUST(sigprocmask(SIG_BLOCK, &s, NULL));
	MUST(setrlimit(RLIMIT_SIGPENDING, &l));
	SHOW(sigqueue(getpid(), SIGRTMIN, (union sigval){1}));
	SHOW(sigqueue(getpid(), SIGRTMIN, (union sigval){2}));
	SHOW(sigqueue(getpid(), SIGRTMIN, (union sigval){3}));
	SHOW(kill(getpid(), SIGUSR1));
	SHOW(kill(getpid(), SIGRTMIN + 1));
	struct timespec no = {0, 0};
	for (int k = 0; k < 5; k++)
		if (SHOW(sigtimedwait(&s, &i, &no)) > 0)
			printf("value %d\n", i.si_code == SI_QUEUE ? i.si_value.sival_int : -1);
}
