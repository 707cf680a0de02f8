// sigwait, sigwaitinfo and sigtimedwait take blocked signals without a handler.
#include "guest.h"

int main(void)
{
	sigset_t s;
	siginfo_t si;
	int sig;
	struct timespec zero = {0, 0}, some = {0, 20000000}, bad = {0, -1};
	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	sigaddset(&s, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &s, NULL);
	SHOW(sigtimedwait(&s, &si, &zero));
	SHOW(sigtimedwait(&s, &si, &some));
	SHOW(sigtimedwait(&s, &si, &bad));
	sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 3});
	kill(getpid(), SIGUSR1);
	SURE(sigwaitinfo(&s, &si) == SIGUSR1);
	SURE(si.si_pid == getpid());
	SURE(sigtimedwait(&s, &si, &zero) == SIGRTMIN);
	SHOW(si.si_value.sival_int);
	pid_t child = fork();
	if (child == 0) {
		nap(20);
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	SHOWE(sigwait(&s, &sig));
	SURE(sig == SIGUSR1);
	show_wait("child", child);
}
