// alarm and its rest; a second one replaces the first; the default kills.
#include "guest.h"

static volatile sig_atomic_t rings;
static void ring(int sig) { rings += sig == SIGALRM; }

int main(void)
{
	on(SIGALRM, ring, 0);
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
		struct itimerval it = {{0, 0}, {0, 10000}};
		signal(SIGALRM, SIG_DFL);
		setitimer(ITIMER_REAL, &it, NULL);
		for (;;)
			pause();
	}
	show_wait("child", child);
}
