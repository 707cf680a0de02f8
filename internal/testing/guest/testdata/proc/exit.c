// atexit handlers, destructors, _exit and exit codes.
#include "guest.h"

static void first(void) { printf("first handler\n"); }
static void second(void)
{
	printf("second handler\n");
	atexit(first);
}
__attribute__((destructor)) static void destructor(void) { printf("destructor\n"); }

int main(void)
{
	pid_t child = fork();
	if (child == 0) {
		atexit(second);
		_exit(256 + 3);
	}
	show_wait("_exit", child);
	child = fork();
	if (child == 0) {
		atexit(second);
		exit(-1);
	}
	show_wait("exit", child);
	child = fork();
	if (child == 0)
		quick_exit(4);
	show_wait("quick_exit", child);
	atexit(second);
	return 300;
}
