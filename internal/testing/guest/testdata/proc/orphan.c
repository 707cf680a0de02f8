// The child of a dead parent goes to the nearest sub-reaper.
#include "guest.h"
#include <sys/prctl.h>

int main(void)
{
	int p[2], st, on = 0;
	pid_t grandchild;
	MUST(pipe(p));
	SHOW(prctl(PR_SET_CHILD_SUBREAPER, 1));
	SHOW(prctl(PR_GET_CHILD_SUBREAPER, &on));
	SHOW(on);
	pid_t me = getpid(), child = fork();
	if (child == 0) {
		if (fork() == 0) {
			while (getppid() != me)
				nap(5);
			grandchild = getpid();
			MUST(write(p[1], &grandchild, sizeof grandchild));
			_exit(4);
		}
		_exit(3);
	}
	show_wait("child", child);
	MUST(read(p[0], &grandchild, sizeof grandchild));
	SURE(wait(&st) == grandchild);
	show_status("grandchild", st);
	SHOW(wait(&st));
}
