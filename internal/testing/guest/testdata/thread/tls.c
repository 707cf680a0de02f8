// Thread-local variables, keys with destructors, once, and errno per thread.
#include "guest.h"

static __thread int initialised = 42;
static __thread char zeroed[5000];
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void destroy(void *v) { printf("destroyed %ld\n", (long)v); }
static void first(void)
{
	printf("once\n");
	pthread_key_create(&key, destroy);
}

static void *body(void *x)
{
	pthread_once(&once, first);
	printf("%d, %d\n", initialised, zeroed[4999]);
	initialised = (long)x;
	zeroed[4999] = 1;
	errno = (long)x;
	pthread_setspecific(key, x);
	SHOW(pthread_getspecific(key));
	return NULL;
}

int main(void)
{
	errno = 7;
	for (long i = 1; i <= 3; i++)
		pthread_join(start(body, (void *)i), NULL);
	SHOW(errno);
	SHOW(initialised);
	SHOW(pthread_getspecific(key));
}
