// A broadcast wakes all who wait on a condition.
#include "guest.h"

enum { n = 6 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int waiting, go, passed;

static void *waiter(void *x)
{
	pthread_mutex_lock(&m);
	waiting++;
	while (!go)
		pthread_cond_wait(&c, &m);
	passed++;
	pthread_mutex_unlock(&m);
	return x;
}

int main(void)
{
	pthread_t t[n];
	for (int i = 0; i < n; i++)
		t[i] = start(waiter, NULL);
	for (;;) {
		pthread_mutex_lock(&m);
		if (waiting == n)
			break;
		pthread_mutex_unlock(&m);
		sched_yield();
	}
	go = 1;
	SHOW(passed);
	pthread_cond_broadcast(&c);
	pthread_mutex_unlock(&m);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	SHOW(passed);
}
