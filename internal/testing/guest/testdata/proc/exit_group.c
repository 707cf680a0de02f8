// One thread ends the process under all others; one thread's exit ends but itself.
#include "guest.h"

static void *forever(void *x)
{
	for (;;)
		pause();
	return x;
}

static void *ends_all(void *x)
{
	nap(20);
	exit(12);
}

static void *ends_itself(void *x)
{
	syscall(SYS_exit, 3);
	return x;
}

int main(void)
{
	pid_t child = fork();
	if (child == 0) {
		start(forever, NULL);
		start(ends_all, NULL);
		forever(NULL);
	}
	show_wait("exit in a thread", child);
	child = fork();
	if (child == 0) {
		start(ends_itself, NULL);
		nap(20);
		_exit(13);
	}
	show_wait("thread's own exit", child);
	child = fork();
	if (child == 0) {
		start(forever, NULL);
		start(forever, NULL);
		nap(20);
		kill(getpid(), SIGKILL);
		for (;;)
			pause();
	}
	show_wait("killed", child);
	child = fork();
	if (child == 0) {
		start(forever, NULL);
		start(forever, NULL);
		nap(10);
		return 14;
	}
	show_wait("return from main", child);
}
