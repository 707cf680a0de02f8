// Ends in one way or another.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __attribute__((noinline)) void leave(void)
{
	exit(3);
}

static __attribute__((noinline)) void fault(volatile int *at)
{
	*at = 1;
}

static __attribute__((noinline)) void give_up(void)
{
	abort();
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	usleep(1000);
	if (!strcmp(how, "exit"))
		leave();
	if (!strcmp(how, "fault"))
		fault(NULL);
	if (!strcmp(how, "abort"))
		give_up();
	if (fork() == 0) {
		kill(getppid(), SIGTERM);
		_exit(0);
	}
	pause();
}
