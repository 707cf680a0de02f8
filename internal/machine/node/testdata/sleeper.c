// A thread sleeps by the call that musl's sleep makes, then waits for a time. The process waits for
// it.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void *sleeps(void *arg)
{
	struct timespec t = {0, 5000000};
	syscall(SYS_nanosleep, &t, &t);
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec++;
	pthread_mutex_lock(&m);
	pthread_cond_timedwait(&c, &m, &t);
	puts("slept");
	return 0;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, sleeps, 0);
	pthread_join(t, 0);
}
