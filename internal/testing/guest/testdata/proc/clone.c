// clone with shared memory, files and a stack of its own.
#include "guest.h"

static int value;

static int body(void *x)
{
	value = 5;
	close(*(int *)x);
	return 21;
}

int main(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	int fd = MUST(open("/dev/null", O_RDONLY));
	pid_t child = MUST(clone(body, stack + sizeof stack, CLONE_VM | CLONE_FILES | SIGCHLD, &fd));
	show_wait("sharing", child);
	SHOW(value);
	SHOW(fcntl(fd, F_GETFD));
	value = 0;
	fd = MUST(open("/dev/null", O_RDONLY));
	child = MUST(clone(body, stack + sizeof stack, SIGCHLD, &fd));
	show_wait("not sharing", child);
	SHOW(value);
	SHOW(fcntl(fd, F_GETFD));
	// A child without an exit signal is waited for with __WALL or __WCLONE.
	child = MUST(clone(body, stack + sizeof stack, 0, &fd));
	int st;
	SHOW(waitpid(child, &st, 0));
	SURE(waitpid(child, &st, __WALL) == child);
	show_status("silent", st);
	SHOW(syscall(SYS_clone, CLONE_THREAD, 0, 0, 0, 0));
}
