// A blocked read of a signalfd ends with the signal.
#include "guest.h"
#include <sys/signalfd.h>

int main(void)
{
	sigset_t s;
	struct signalfd_siginfo si;
	sigemptyset(&s);
	sigaddset(&s, SIGTERM);
	sigprocmask(SIG_BLOCK, &s, NULL);
	int f = MUST(signalfd(-1, &s, 0));
	pid_t child = fork();
	if (child == 0) {
		nap(30);
		kill(getppid(), SIGTERM);
		_exit(0);
	}
	SHOW(read(f, &si, sizeof si));
	printf("%s from %s\n", sigabbrev_np(si.ssi_signo), si.ssi_pid == child ? "child" : "somebody");
	show_wait("child", child);
}
