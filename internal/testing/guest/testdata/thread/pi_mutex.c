// A mutex with priority inheritance, fought over.
#include "guest.h"

static pthread_mutex_t m;
static long counter;

static void *add(void *x)
{
	for (int i = 0; i < 500; i++) {
		pthread_mutex_lock(&m);
		counter++;
		if (i % 50 == 0)
			sched_yield();
		pthread_mutex_unlock(&m);
	}
	return x;
}

int main(void)
{
	pthread_t t[4];
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	SHOWE(pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT));
	SHOWE(pthread_mutex_init(&m, &a));
	for (int i = 0; i < 4; i++)
		t[i] = start(add, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	SHOW(counter);
	SHOWE(pthread_mutex_lock(&m));
	SHOWE(pthread_mutex_trylock(&m));
}
