// Wake-ups for chosen waiters, and absolute time-outs.
#include "futex.h"

static int word;

static void *waiter(void *bits)
{
	MUST(futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL, (long)bits));
	return bits;
}

int main(void)
{
	void *bits;
	pthread_t a = start(waiter, (void *)1), b = start(waiter, (void *)2);
	rest(0);
	SHOW(futex(&word, FUTEX_WAKE_BITSET_PRIVATE, 10, NULL, NULL, 4));
	SHOW(futex(&word, FUTEX_WAKE_BITSET_PRIVATE, 10, NULL, NULL, 2));
	pthread_join(b, &bits);
	SHOW(bits);
	SHOW(futex(&word, FUTEX_WAKE_PRIVATE, 10, NULL, NULL, 0));
	pthread_join(a, &bits);
	SHOW(bits);
	SHOW(futex(&word, FUTEX_WAIT_BITSET, 0, NULL, NULL, 0));
	SHOW(futex(&word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 0));
	struct timespec t = ms_from_now(CLOCK_MONOTONIC, 20);
	SHOW(futex(&word, FUTEX_WAIT_BITSET, 0, &t, NULL, ~0u));
	SHOW(futex(&word, FUTEX_WAIT_BITSET, 0, &t, NULL, ~0u));
	t = ms_from_now(CLOCK_REALTIME, 20);
	SHOW(futex(&word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, &t, NULL, ~0u));
}
