// Time-outs of mutexes and of read-write locks.
#include "guest.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;

static struct timespec soon(clockid_t c)
{
	struct timespec t;
	clock_gettime(c, &t);
	t.tv_nsec += 20000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void *other(void *x)
{
	struct timespec t = soon(CLOCK_REALTIME), bad = {0, -1};
	SHOWE(pthread_mutex_trylock(&m));
	SHOWE(pthread_mutex_timedlock(&m, &t));
	SHOWE(pthread_mutex_timedlock(&m, &bad));
	t = soon(CLOCK_MONOTONIC);
	SHOWE(pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &t));
	t = soon(CLOCK_REALTIME);
	SHOWE(pthread_rwlock_timedrdlock(&rw, &t));
	SHOWE(pthread_rwlock_tryrdlock(&rw));
	return x;
}

int main(void)
{
	SHOWE(pthread_mutex_lock(&m));
	SHOWE(pthread_rwlock_wrlock(&rw));
	pthread_join(start(other, NULL), NULL);
	SHOWE(pthread_mutex_unlock(&m));
	SHOWE(pthread_rwlock_unlock(&rw));
}
