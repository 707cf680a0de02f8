// Whom kill reaches: nobody, oneself, a group, a zombie.
#include "guest.h"

static volatile sig_atomic_t count;
static void handler(int sig) { count++; }

int main(void)
{
	SHOW(kill(getpid(), 0));
	SHOW(kill(999999, 0));
	SHOW(kill(getpid(), 65));
	SHOW(kill(getpid(), -1));
	if (getpgrp() != getpid())
		MUST(setpgid(0, 0));
	pid_t a = fork();
	if (a == 0)
		for (;;)
			pause();
	pid_t b = fork();
	if (b == 0)
		for (;;)
			pause();
	on(SIGUSR1, handler, 0);
	SHOW(kill(0, SIGUSR1));
	SHOW(count);
	show_wait("first", a);
	show_wait("second", b);
	pid_t g = fork();
	if (g == 0) {
		setpgid(0, 0);
		for (;;)
			pause();
	}
	setpgid(g, g);
	SHOW(kill(-g, SIGTERM));
	siginfo_t si;
	MUST(waitid(P_PID, g, &si, WEXITED | WNOWAIT));
	SHOW(kill(g, 0));
	SHOW(kill(g, SIGKILL));
	SHOW(killpg(g, SIGTERM));
	show_wait("group", g);
	SHOW(killpg(g, SIGTERM));
	SHOW(kill(g, SIGTERM));
}
