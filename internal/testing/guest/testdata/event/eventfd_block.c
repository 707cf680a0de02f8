// Readers wait for a value, writers for room; each wakes the other.
#include "guest.h"
#include <sys/eventfd.h>

static int e;

static void *feeder(void *x)
{
	nap(30);
	MUST(eventfd_write(e, 5));
	return x;
}

static void *drainer(void *x)
{
	eventfd_t v;
	nap(30);
	MUST(eventfd_read(e, &v));
	return x;
}

int main(void)
{
	eventfd_t v;
	e = MUST(eventfd(0, 0));
	pthread_t t = start(feeder, NULL);
	SHOW(eventfd_read(e, &v));
	SHOW(v);
	pthread_join(t, NULL);
	SHOW(eventfd_write(e, UINT64_MAX - 1));
	t = start(drainer, NULL);
	SHOW(eventfd_write(e, 7));
	pthread_join(t, NULL);
	SHOW(eventfd_read(e, &v));
	SHOW(v);
}
