// guest: gcc -pthread
// A robust mutex whose owner is killed is inconsistent until somebody says that it is not.
#include "kill.h"

struct both {
	pthread_mutex_t robust, plain;
} * m;

static void act(void)
{
	pthread_mutex_lock(&m->robust);
	pthread_mutex_lock(&m->plain);
}

static void make(pthread_mutex_t *x, int robust)
{
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	if (robust)
		pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(x, &a);
}

int main(void)
{
	m = shared(sizeof *m);
	make(&m->robust, 1);
	make(&m->plain, 0);
	pid_t v = victim(act);
	SHOWE(pthread_mutex_trylock(&m->robust));
	slay(v);
	SHOWE(pthread_mutex_lock(&m->robust));
	SHOWE(pthread_mutex_consistent(&m->robust));
	SHOWE(pthread_mutex_unlock(&m->robust));
	SHOWE(pthread_mutex_lock(&m->robust));
	SHOWE(pthread_mutex_trylock(&m->plain));
	SHOWE(pthread_mutex_unlock(&m->robust));
}
