// What the guest programs share that look at what a killed process leaves behind.
#ifndef KILL_H
#define KILL_H
#include "net.h"

// victim starts a process that does something and then waits to be killed.
static inline pid_t victim(void (*act)(void))
{
	int p[2];
	char c;
	MUST(pipe(p));
	pid_t pid = MUST(fork());
	if (!pid) {
		close(p[0]);
		act();
		MUST(write(p[1], "r", 1));
		for (;;)
			pause();
	}
	close(p[1]);
	MUST(read(p[0], &c, 1) == 1 ? 0 : -1);
	close(p[0]);
	return pid;
}

// slay kills a process and shows how it ended.
static inline void slay(pid_t pid)
{
	SHOW(kill(pid, SIGKILL));
	show_wait("the victim", pid);
}
#endif
