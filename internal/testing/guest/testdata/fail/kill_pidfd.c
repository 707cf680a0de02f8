// A pidfd tells of the end of a process that is no child of who has it, and after that only ESRCH.
#include "kill.h"

static void act(void) {}

int main(void)
{
	siginfo_t s = {0};
	pid_t v = victim(act);
	int f = MUST(syscall(SYS_pidfd_open, v, 0));
	struct pollfd p = {f, POLLIN, 0};
	SHOW(poll(&p, 1, 0));
	SHOW(syscall(SYS_pidfd_send_signal, f, SIGKILL, NULL, 0));
	SHOW(poll(&p, 1, -1));
	printf("%s\n", events(p.revents));
	SHOW(syscall(SYS_pidfd_send_signal, f, SIGKILL, NULL, 0));
	SHOW(waitid(P_PIDFD, f, &s, WEXITED));
	printf("status %d\n", s.si_status);
	SHOW(syscall(SYS_pidfd_send_signal, f, 0, NULL, 0));
	SHOW(waitid(P_PIDFD, f, &s, WEXITED));
	SHOW(poll(&p, 1, 0));
}
