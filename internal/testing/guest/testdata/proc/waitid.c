// waitid: leaving the child, only some states, by group, by pidfd.
#include "guest.h"

int main(void)
{
	siginfo_t si = {0};
	int q[2];
	char go;
	MUST(pipe(q));
	pid_t a = fork();
	if (a == 0)
		_exit(5);
	SHOW(waitid(P_PID, a, &si, WEXITED | WNOWAIT));
	SURE(si.si_pid == a && si.si_code == CLD_EXITED && si.si_status == 5 && si.si_signo == SIGCHLD && si.si_uid == getuid());
	memset(&si, 0, sizeof si);
	SHOW(waitid(P_ALL, 0, &si, WEXITED));
	SURE(si.si_pid == a);
	SHOW(waitid(P_ALL, 0, &si, WEXITED));
	a = fork();
	if (a == 0) {
		setpgid(0, 0);
		for (;;)
			pause();
	}
	setpgid(a, a);
	si.si_pid = 1;
	SHOW(waitid(P_PGID, a, &si, WEXITED | WNOHANG));
	SHOW(si.si_pid);
	SHOW(waitid(P_PGID, a + 5000, &si, WEXITED));
	SHOW(waitid(P_PID, a, &si, 0));
	SHOW(waitid(99, a, &si, WEXITED));
	kill(a, SIGINT);
	SHOW(waitid(P_PGID, a, &si, WEXITED));
	SURE(si.si_code == CLD_KILLED && si.si_status == SIGINT);
	a = fork();
	if (a == 0) {
		MUST(read(q[0], &go, 1));
		_exit(3);
	}
	int fd = syscall(SYS_pidfd_open, a, 0);
	SURE(fd >= 0);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	SHOW(poll(&p, 1, 0));
	MUST(write(q[1], "x", 1));
	SHOW(poll(&p, 1, 5000));
	SHOW(waitid(3 /* P_PIDFD */, fd, &si, WEXITED));
	SHOW(si.si_status);
	SHOW(syscall(SYS_pidfd_open, 999999, 0));
}
