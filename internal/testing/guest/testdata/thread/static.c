// Threads, locks and thread-local variables in a statically linked program.
// guest: static
#include "guest.h"

static __thread int own = 3;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *body(void *x)
{
	own += (long)x;
	pthread_mutex_lock(&m);
	sum += own;
	pthread_mutex_unlock(&m);
	return NULL;
}

int main(void)
{
	pthread_t t[8];
	for (long i = 0; i < 8; i++)
		t[i] = start(body, (void *)i);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	SHOW(sum);
	SHOW(own);
}
