// What can be asked of a zombie, and of a process whose first thread has ended.
#include "guest.h"
#include <sys/prctl.h>

static void ask(pid_t pid)
{
	struct sched_param sp = {0};
	cpu_set_t set;
	struct rlimit r;
	siginfo_t si = {0};
	SHOW(setpriority(PRIO_PROCESS, pid, 5));
	SHOW(getpriority(PRIO_PROCESS, pid));
	SHOW(sched_getscheduler(pid));
	SHOW(sched_setscheduler(pid, SCHED_BATCH, &sp));
	SHOW(sched_getscheduler(pid));
	SHOW(sched_getparam(pid, &sp));
	SHOW(sched_getaffinity(pid, sizeof set, &set) >= 0);
	SHOW(getpgid(pid) == getpgrp());
	SHOW(getsid(pid) == getsid(0));
	SHOW(kill(pid, 0));
	SHOW(kill(pid, SIGTERM));
	SHOW(syscall(SYS_tgkill, pid, pid, 0));
	SHOW(syscall(SYS_tgkill, pid, pid, SIGTERM));
	SHOW(syscall(SYS_tkill, pid, SIGTERM));
	SHOW(prlimit(pid, RLIMIT_CPU, NULL, &r));
	int fd = SHOW(syscall(SYS_pidfd_open, pid, 0)) >= 0;
	SURE(fd);
	SHOW(setpgid(pid, pid));
	SHOW(waitid(P_PID, pid, &si, WSTOPPED | WNOHANG));
	SHOW(waitid(P_PID, pid, &si, WSTOPPED | WCONTINUED | WNOHANG));
	SHOW(waitid(P_ALL, 0, &si, WCONTINUED));
	SHOW(waitid(P_PID, pid, &si, WEXITED | WNOWAIT | WNOHANG));
	SHOW(si.si_status);
}

static void *outlive(void *arg)
{
	nap(20);
	ask(getpid());
	fflush(stdout);
	_exit(3);
}

int main(void)
{
	pid_t pid = MUST(fork());
	if (pid == 0)
		_exit(7);
	siginfo_t si;
	MUST(waitid(P_PID, pid, &si, WEXITED | WNOWAIT));
	ask(pid);
	show_wait("child", pid);
	SHOW(getpriority(PRIO_PROCESS, pid));
	SHOW(sched_getscheduler(pid));

	// A child that is alive can still stop.
	pid_t other = MUST(fork());
	if (other == 0) {
		pause();
		_exit(0);
	}
	SHOW(waitid(P_PID, other, &si, WSTOPPED | WNOHANG));
	MUST(kill(other, SIGSTOP));
	SHOW(waitid(P_PID, other, &si, WSTOPPED));
	SHOW(si.si_status == SIGSTOP);
	MUST(kill(other, SIGKILL));
	MUST(waitid(P_PID, other, &si, WEXITED | WNOWAIT));
	SHOW(waitid(P_PID, other, &si, WSTOPPED));
	show_wait("other", other);

	pid = MUST(fork());
	if (pid == 0) {
		signal(SIGTERM, SIG_IGN);
		start(outlive, NULL);
		pthread_exit(NULL);
	}
	show_wait("process without a first thread", pid);
	return 0;
}
