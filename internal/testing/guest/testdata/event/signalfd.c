// Blocked signals read as data.
#include "guest.h"
#include <sys/signalfd.h>

int main(void)
{
	sigset_t s;
	struct signalfd_siginfo si[3];
	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	sigaddset(&s, SIGRTMIN);
	sigaddset(&s, SIGCHLD);
	sigprocmask(SIG_BLOCK, &s, NULL);
	int f = MUST(signalfd(-1, &s, SFD_NONBLOCK | SFD_CLOEXEC));
	struct pollfd p = {.fd = f, .events = POLLIN};
	SHOW(read(f, si, sizeof si));
	SHOW(poll(&p, 1, 0));
	kill(getpid(), SIGUSR1);
	SHOW(poll(&p, 1, 0));
	SHOW(read(f, si, sizeof si[0] - 1));
	SHOW(read(f, si, sizeof si));
	SHOW(si[0].ssi_signo == SIGUSR1);
	SURE(si[0].ssi_pid == getpid() && si[0].ssi_code == SI_USER);
	for (int i = 1; i <= 2; i++)
		sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i * 10});
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR1);
	int n = SHOW(read(f, si, sizeof si)) / sizeof si[0];
	for (int i = 0; i < n; i++)
		printf("%s value %d\n", si[i].ssi_signo == SIGUSR1 ? "USR1" : "RTMIN", si[i].ssi_int);
	pid_t child = fork();
	if (child == 0)
		_exit(9);
	p.fd = f;
	SHOW(poll(&p, 1, 5000));
	SHOW(read(f, si, sizeof si));
	printf("%s, child %d, status %d, exited %d\n", sigabbrev_np(si[0].ssi_signo), si[0].ssi_pid == child, si[0].ssi_status, si[0].ssi_code == CLD_EXITED);
	show_wait("child", child);
	sigemptyset(&s);
	sigaddset(&s, SIGUSR2);
	sigprocmask(SIG_BLOCK, &s, NULL);
	SHOW(signalfd(f, &s, 0) == f);
	kill(getpid(), SIGUSR1);
	SHOW(read(f, si, sizeof si));
	kill(getpid(), SIGUSR2);
	SHOW(read(f, si, sizeof si));
	SHOW(signalfd(-1, &s, 0x1));
	SHOW(signalfd(0, &s, 0));
}
