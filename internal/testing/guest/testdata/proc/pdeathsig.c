// A child asks for a signal when its parent dies.
#include "guest.h"
#include <sys/prctl.h>

int main(void)
{
	int p[2];
	char b;
	MUST(pipe(p));
	pid_t child = fork();
	if (child == 0) {
		int q[2];
		MUST(pipe(q));
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			MUST(write(q[1], "x", 1));
			for (;;)
				pause();
		}
		MUST(read(q[0], &b, 1));
		_exit(0);
	}
	close(p[1]);
	show_wait("child", child);
	SHOW(read(p[0], &b, 1));
}
