// What SA_SIGINFO tells: sender, reason, value.
#include "guest.h"

static volatile siginfo_t got;
static void handler(int sig, siginfo_t *si, void *x) { *(siginfo_t *)&got = *si; }

int main(void)
{
	struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO}, old;
	MUST(sigaction(SIGUSR1, &sa, NULL));
	MUST(sigaction(SIGCHLD, &sa, NULL));
	SHOW(sigaction(SIGUSR1, NULL, &old));
	SURE(old.sa_sigaction == handler && (old.sa_flags & SA_SIGINFO));
	kill(getpid(), SIGUSR1);
	SURE(got.si_signo == SIGUSR1 && got.si_code == SI_USER && got.si_pid == getpid() && got.si_uid == getuid());
	raise(SIGUSR1);
	SURE(got.si_code == SI_TKILL && got.si_pid == getpid());
	sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 5});
	SURE(got.si_code == SI_QUEUE && got.si_value.sival_int == 5);
	pthread_kill(pthread_self(), SIGUSR1);
	SURE(got.si_code == SI_TKILL);
	pid_t child = fork();
	if (child == 0)
		_exit(3);
	while (waitpid(child, NULL, 0) < 0)
		;
	SURE(got.si_signo == SIGCHLD && got.si_code == CLD_EXITED && got.si_pid == child && got.si_status == 3);
	child = fork();
	if (child == 0)
		for (;;)
			pause();
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0)
		;
	SURE(got.si_code == CLD_KILLED && got.si_status == SIGKILL);
	SHOW(sigaction(SIGKILL, &sa, NULL));
	SHOW(sigaction(SIGSTOP, NULL, &old));
	SHOW(sigaction(0, &sa, NULL));
	SHOW(sigaction(65, &sa, NULL));
}
