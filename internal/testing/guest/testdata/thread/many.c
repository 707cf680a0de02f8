// Fifty threads at once, each with a result and a variable of its own.
#include "guest.h"

enum { n = 50 };
static __thread long own;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int alive;

static void *body(void *x)
{
	own = (long)x;
	pthread_mutex_lock(&m);
	if (++alive == n)
		pthread_cond_broadcast(&c);
	while (alive < n)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
	return (void *)(own * own);
}

int main(void)
{
	pthread_t t[n];
	long sum = 0;
	for (long i = 0; i < n; i++)
		t[i] = start(body, (void *)i);
	for (int i = 0; i < n; i++) {
		void *r;
		pthread_join(t[i], &r);
		sum += (long)r;
	}
	SHOW(alive);
	SHOW(sum);
	SHOW(own);
}
