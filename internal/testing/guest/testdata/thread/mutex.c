// Mutexes of each type, fought over by several threads.
#include "guest.h"

enum { n = 8, rounds = 2000 };
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static long counter;

static void *add(void *x)
{
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&plain);
		counter++;
		pthread_mutex_unlock(&plain);
	}
	return x;
}

int main(void)
{
	pthread_t t[n];
	for (int i = 0; i < n; i++)
		t[i] = start(add, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	SHOW(counter);
	pthread_mutexattr_t a;
	pthread_mutex_t m;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&m, &a);
	SHOWE(pthread_mutex_unlock(&m));
	SHOWE(pthread_mutex_lock(&m));
	SHOWE(pthread_mutex_lock(&m));
	SHOWE(pthread_mutex_trylock(&m));
	SHOWE(pthread_mutex_destroy(&m));
	SHOWE(pthread_mutex_unlock(&m));
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&m, &a);
	SHOWE(pthread_mutex_lock(&m));
	SHOWE(pthread_mutex_lock(&m));
	SHOWE(pthread_mutex_unlock(&m));
	SHOWE(pthread_mutex_unlock(&m));
	SHOWE(pthread_mutex_unlock(&m));
}
