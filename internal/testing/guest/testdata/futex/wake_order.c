// FUTEX_WAKE wakes as many as asked, first come first served.
#include "futex.h"

enum { n = 5 };
static int word, turn;
static char order[n + 1];

static void *waiter(void *x)
{
	MUST(futex(&word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
	order[__sync_fetch_and_add(&turn, 1)] = '0' + (long)x;
	return NULL;
}

int main(void)
{
	pthread_t t[n];
	for (long i = 0; i < n; i++) {
		t[i] = start(waiter, (void *)i);
		rest(0);
	}
	SHOW(futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
	rest(0);
	SHOW(futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
	rest(0);
	printf("%s\n", order);
	SHOW(futex(&word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0));
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	SHOW(turn);
}
