// Cancelling a thread in a blocked read, in a condition wait, and not at all.
#include "guest.h"

static int p[2];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static const char *last = "nothing";
static void cleaned(void *what) { last = what; }

static void *in_read(void *x)
{
	char b;
	pthread_cleanup_push(cleaned, "read");
	read(p[0], &b, 1);
	pthread_cleanup_pop(0);
	return x;
}

static void *in_wait(void *x)
{
	pthread_mutex_lock(&m);
	pthread_cleanup_push((void (*)(void *))pthread_mutex_unlock, &m);
	pthread_cleanup_push(cleaned, "wait");
	pthread_cond_wait(&c, &m);
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return x;
}

static void *immune(void *x)
{
	char b;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	read(p[0], &b, 1);
	last = "read on";
	return x;
}

static void run(void *(*f)(void *), int cancelled)
{
	void *r;
	pthread_t t = start(f, NULL);
	rest(0);
	SHOWE(pthread_cancel(t));
	if (!cancelled)
		MUST(write(p[1], "x", 1));
	SHOWE(pthread_join(t, &r));
	SURE(r == PTHREAD_CANCELED);
	printf("last: %s\n", last);
}

int main(void)
{
	MUST(pipe(p));
	run(in_read, 1);
	run(in_wait, 1);
	run(immune, 0);
	SHOWE(pthread_mutex_trylock(&m));
}
