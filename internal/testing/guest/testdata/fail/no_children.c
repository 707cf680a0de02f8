// Waiting for children that are not there, not one's own, or ignored.
#include "guest.h"

int main(void)
{
	int st;
	siginfo_t i;
	SHOW(wait(&st));
	SHOW(waitpid(getppid(), &st, 0));
	SHOW(waitpid(-getpgrp(), &st, 0));
	SHOW(waitid(P_ALL, 0, &i, WEXITED));
	SHOW(waitid(P_ALL, 0, &i, 0));
	signal(SIGCHLD, SIG_IGN);
	pid_t c = MUST(fork());
	if (!c)
		_exit(7);
	SHOW(waitpid(c, &st, 0));
	signal(SIGCHLD, SIG_DFL);
	c = MUST(fork());
	if (!c)
		_exit(7);
	show_wait("a child", c);
	SHOW(waitpid(c, &st, 0));
	SHOW(waitpid(c, &st, 0x1000));
}
