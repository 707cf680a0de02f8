// Priority-inheriting futexes: the word holds its owner.
#include "futex.h"

static int word;
static volatile int owned, go;

static void *owner(void *x)
{
	MUST(futex(&word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0));
	owned = 1;
	while (!go)
		nap(1);
	MUST(futex(&word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0));
	return x;
}

int main(void)
{
	SHOW(futex(&word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0));
	SURE((word & FUTEX_TID_MASK) == gettid());
	SHOW(futex(&word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0));
	SHOW(futex(&word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0));
	SHOW(word);
	SHOW(futex(&word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0));
	pthread_t t = start(owner, NULL);
	while (!owned)
		nap(1);
	SHOW(futex(&word, FUTEX_TRYLOCK_PI_PRIVATE, 0, NULL, NULL, 0));
	struct timespec at = ms_from_now(CLOCK_REALTIME, 10);
	SHOW(futex(&word, FUTEX_LOCK_PI_PRIVATE, 0, &at, NULL, 0));
	go = 1;
	SHOW(futex(&word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0));
	SURE((word & FUTEX_TID_MASK) == gettid());
	pthread_join(t, NULL);
	SHOW(futex(&word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0));
	SHOW(word);
}
