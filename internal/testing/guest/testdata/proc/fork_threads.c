// A thread forks: the child has that thread alone. pthread_atfork runs.
#include "guest.h"

static void before(void) { printf("before\n"); }
static void parent(void) { printf("in the parent\n"); }
static volatile int in_child;
static void child_side(void) { in_child = 1; }

static void *forever(void *x)
{
	for (;;)
		pause();
	return x;
}

static int tasks(void)
{
	char b[4096] = {0};
	int fd = MUST(open("/proc/self/status", O_RDONLY));
	MUST(read(fd, b, sizeof b - 1));
	close(fd);
	char *t = strstr(b, "Threads:");
	return t ? atoi(t + 8) : -1;
}

static void *forks(void *x)
{
	pid_t child = fork();
	if (child == 0) {
		pthread_t t = start((void *(*)(void *))tasks, NULL);
		void *n;
		pthread_join(t, &n);
		_exit(in_child && tasks() == 1 && (long)(int)(long)n == 2 && gettid() == getpid() ? 0 : 1);
	}
	show_wait("child", child);
	return x;
}

int main(void)
{
	pthread_atfork(before, parent, child_side);
	start(forever, NULL);
	pthread_join(start(forks, NULL), NULL);
	SHOW(tasks());
}
