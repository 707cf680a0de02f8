// alarm and its rest; a second one replaces the first; the default kills.
#include "guest.h"

static volatile sig_atomic_t rings;
static void rang(int sig) { rings += sig == SIGALRM; }

int main(void)
{
	on(SIGALRM, rang, 0);
	SHOW(alarm(100));
	SHOW(alarm(50));
	SHOW(alarm(0));
	SHOW(alarm(0));
	SHOW(alarm(1));
	SHOW(pause());
	SHOW(rings);
	SHOW(alarm(1));
	pid_t child = fork();
	if (child == 0)
		_exit(alarm(0));
	show_wait("child", child);
	SHOW(sleep(3) > 0);
	SHOW(rings);
	child = fork();
	if (child == 0) {
		signal(SIGALRM, SIG_DFL);
		ring(10);
		for (;;)
			pause();
	}
	show_wait("child", child);
}
