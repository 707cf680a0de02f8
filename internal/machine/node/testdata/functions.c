// Functions of its own and of the C library, called by the program, by a thread that blocks all
// signals, by a child, and by what it executes; three times, with some time between.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int traps;
static void trap(int s) { traps++; }

__attribute__((noinline)) int answer(int x)
{
	__asm__ volatile("");
	return x + 1;
}

static void *thread(void *p)
{
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	printf("thread: answer %d\n", answer(1));
	return NULL;
}

static void round_(void)
{
	pthread_t t;
	char *p = malloc(100);
	printf("malloc: %s\n", p ? "ok" : "NULL");
	free(p);
	p = strdup("text");
	printf("strdup: %s\n", p ? p : "NULL");
	free(p);
	printf("answer %d\n", answer(1));
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		printf("child: answer %d\n", answer(1));
		fflush(stdout);
		execl("/proc/self/exe", "functions", "again", NULL);
	}
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	static char buf[4096];
	setvbuf(stdout, buf, _IOLBF, sizeof buf);
	if (argc > 1) {
		printf("executed: answer %d\n", answer(1));
		return 0;
	}
	signal(SIGTRAP, trap);
	for (int i = 0; i < 3; i++, usleep(300000))
		round_();
	raise(SIGTRAP);
	printf("traps: %d\n", traps);
	return 0;
}
