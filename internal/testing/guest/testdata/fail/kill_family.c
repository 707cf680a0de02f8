// Children of a killed process live on, with another parent; its group is no matter.
#include "kill.h"
#include <sys/prctl.h>

static int *told;

static void act(void)
{
	pid_t me = getpid();
	MUST(setpgid(0, 0));
	pid_t c = MUST(fork());
	if (!c) {
		while (getppid() == me)
			nap(5);
		told[0] = getpgrp() == me;
		told[1] = 1;
		for (;;)
			pause();
	}
	told[2] = c;
	if (!MUST(fork()))
		_exit(3); // is never waited for
}

int main(void)
{
	told = shared(4096);
	MUST(prctl(PR_SET_CHILD_SUBREAPER, 1));
	pid_t v = victim(act);
	nap(20);
	slay(v);
	while (!told[1])
		nap(5);
	printf("the group of the victim: %d\n", told[0]);
	SHOW(kill(told[2], 0));
	show_wait("a zombie", -1);
	SHOW(kill(-v, SIGKILL));
	show_wait("the child", told[2]);
	SHOW(waitpid(-1, NULL, 0));
}
