// The parent of vfork waits until its child execs or exits.
#include "guest.h"

int main(void)
{
	int *v = shared(4096);
	pid_t child = vfork();
	if (child == 0) {
		*v = 1;
		usleep(20000);
		*v = 2;
		_exit(6);
	}
	SHOW(*v);
	show_wait("child", child);
	child = vfork();
	if (child == 0) {
		execl("/bin/sh", "sh", "-c", "exit 9", NULL);
		_exit(1);
	}
	show_wait("exec", child);
	child = vfork();
	if (child == 0) {
		execl("/no/such/program", "x", NULL);
		_exit(errno == ENOENT ? 17 : 1);
	}
	show_wait("failed exec", child);
}
