// Process groups and sessions.
#include "guest.h"

int main(void)
{
	int p[2], q[2];
	char b;
	MUST(pipe(p));
	MUST(pipe(q));
	pid_t child = fork();
	if (child == 0) {
		SURE(getpgrp() == getpgid(getppid()));
		SURE(getsid(0) == getsid(getppid()));
		SHOW(setsid() == getpid());
		SURE(getpgrp() == getpid() && getsid(0) == getpid());
		SHOW(setsid());
		SHOW(setpgid(0, 0));
		MUST(write(p[1], "x", 1));
		MUST(read(q[0], &b, 1));
		_exit(0);
	}
	MUST(read(p[0], &b, 1));
	SHOW(setpgid(child, child));
	SHOW(setpgid(child, getpgrp()));
	SHOW(setpgid(0, child));
	SURE(getpgid(child) == child && getsid(child) == child);
	SHOW(setpgid(999999, 0));
	SHOW(setpgid(0, -1));
	SHOW(getpgid(999999));
	SHOW(getsid(-1));
	MUST(write(q[1], "x", 1));
	show_wait("child", child);
	child = fork();
	if (child == 0) {
		MUST(read(q[0], &b, 1));
		_exit(0);
	}
	SHOW(setpgid(child, 0));
	SURE(getpgid(child) == child);
	pid_t second = fork();
	if (second == 0)
		_exit(setpgid(0, child) == 0 && getpgrp() == child ? 7 : 1);
	show_wait("second", second);
	MUST(write(q[1], "x", 1));
	SURE(waitpid(-child, NULL, 0) == child);
	SHOW(waitpid(-child, NULL, 0));
}
