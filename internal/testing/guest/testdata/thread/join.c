// Joining: results, twice, oneself, the detached; try and timed.
#include "guest.h"

static void *quick(void *x) { return x; }
static int p[2];
static void *slow(void *x)
{
	char go;
	MUST(read(p[0], &go, 1));
	return x;
}
static void *exits(void *x) { pthread_exit((char *)x + 1); }

int main(void)
{
	void *r;
	MUST(pipe(p));
	pthread_t t = start(quick, (void *)11);
	SHOWE(pthread_join(t, &r));
	SHOW(r);
	SHOWE(pthread_join(pthread_self(), &r));
	t = start(exits, (void *)20);
	SHOWE(pthread_join(t, &r));
	SHOW(r);
	t = start(slow, (void *)3);
	SHOWE(pthread_tryjoin_np(t, &r));
	struct timespec at;
	clock_gettime(CLOCK_REALTIME, &at);
	SHOWE(pthread_timedjoin_np(t, &r, &at));
	MUST(write(p[1], "x", 1));
	SHOWE(pthread_join(t, &r));
	pthread_attr_t a;
	pthread_attr_init(&a);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	SHOWE(pthread_create(&t, &a, slow, NULL));
	SHOWE(pthread_join(t, &r));
	t = start(slow, NULL);
	SHOWE(pthread_detach(t));
	SHOWE(pthread_detach(t));
	pthread_attr_setstacksize(&a, 1 << 20);
	size_t size;
	pthread_attr_getstacksize(&a, &size);
	SHOW(size);
}
