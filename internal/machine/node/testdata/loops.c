// Loops that make no call: some without end, and some that end later or by something else.
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct item {
	struct item *next;
	long value;
};

static volatile int over;

static void end(int sig) { over = sig; }

static void *wait_and_end(void *at)
{
	sleep(1);
	over = 1;
	return at;
}

// sum adds up a list, of which the last item may lead back to another.
static long sum(struct item *l)
{
	long n = 0;
	for (; l; l = l->next)
		n = l->value;
	return n;
}

static __attribute__((noinline)) int touch(volatile int *at, int by)
{
	*at = by;
	return *at;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	struct item a = {0, 1}, b = {&a, 2};
	if (!strcmp(how, "list")) {
		a.next = &b;
		printf("%ld\n", sum(&b));
	} else if (!strcmp(how, "calls")) {
		volatile int at = 0;
		while (touch(&at, 1) + touch(&at, 2))
			;
	} else if (!strcmp(how, "counter")) {
		for (volatile uint64_t n = 1; n; n++)
			;
	} else if (!strcmp(how, "random")) {
		unsigned char ok;
		unsigned long v;
		do
			__asm__ volatile("rdrand %0; setc %1" : "=r"(v), "=q"(ok));
		while (v || !ok);
	} else if (!strcmp(how, "timer")) {
		struct itimerval in = {.it_value = {.tv_sec = 1}};
		signal(SIGALRM, end);
		setitimer(ITIMER_REAL, &in, NULL);
		while (!over)
			;
	} else if (!strcmp(how, "thread")) {
		pthread_t t;
		pthread_create(&t, NULL, wait_and_end, NULL);
		while (!over)
			;
	} else if (!strcmp(how, "clock")) {
		struct timespec t;
		do
			clock_gettime(CLOCK_MONOTONIC, &t);
		while (t.tv_nsec != 1);
	} else if (!strcmp(how, "child")) {
		signal(SIGUSR1, end);
		if (!fork()) {
			sleep(1);
			kill(getppid(), SIGUSR1);
			_exit(0);
		}
		while (!over)
			;
		wait(NULL);
	}
	return 0;
}
