// Real-time signals queue, carry values, and come lowest number first.
#include "guest.h"

static char log[256];
static void handler(int sig, siginfo_t *si, void *x)
{
	sprintf(log + strlen(log), "%d:%d ", sig - SIGRTMIN, si->si_value.sival_int);
}

int main(void)
{
	sigset_t s;
	struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	sigfillset(&sa.sa_mask);
	sigemptyset(&s);
	for (int i = 1; i <= 3; i++) {
		sigaddset(&s, SIGRTMIN + i);
		MUST(sigaction(SIGRTMIN + i, &sa, NULL));
	}
	sigprocmask(SIG_BLOCK, &s, NULL);
	SHOW(sigqueue(getpid(), SIGRTMIN + 3, (union sigval){.sival_int = 1}));
	SHOW(sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = 2}));
	SHOW(sigqueue(getpid(), SIGRTMIN + 3, (union sigval){.sival_int = 3}));
	SHOW(sigqueue(getpid(), SIGRTMIN + 2, (union sigval){.sival_int = 4}));
	SHOW(sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = 5}));
	sigprocmask(SIG_UNBLOCK, &s, NULL);
	printf("%s\n", log);
	SHOW(sigqueue(getpid(), 65, (union sigval){0}));
	SHOW(sigqueue(getpid(), 0, (union sigval){0}));
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	SHOW(sigqueue(child, SIGUSR1, (union sigval){0}));
}
