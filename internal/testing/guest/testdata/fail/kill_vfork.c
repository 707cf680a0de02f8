// A parent that waits for its child of vfork goes on when that is killed.
#include "kill.h"

int main(void)
{
	int p[2];
	MUST(pipe(p));
	pid_t killer = MUST(fork());
	if (!killer) {
		pid_t v;
		MUST(read(p[0], &v, sizeof v));
		nap(10);
		kill(v, SIGKILL);
		_exit(0);
	}
	pid_t v = vfork();
	if (!v) {
		pid_t me = syscall(SYS_getpid);
		write(p[1], &me, sizeof me);
		for (;;)
			pause();
	}
	show_wait("the child", v);
	show_wait("the killer", killer);
}
