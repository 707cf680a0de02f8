// Waiters moved from one word to another.
#include "futex.h"

static int one, two, done;

static void *waiter(void *x)
{
	MUST(futex(&one, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
	__sync_fetch_and_add(&done, 1);
	return x;
}

int main(void)
{
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		t[i] = start(waiter, NULL);
	rest(0);
	SHOW(futex(&one, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)2, &two, 7));
	SHOW(futex(&one, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)2, &two, 0));
	rest(0);
	SHOW(done);
	SHOW(futex(&two, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
	rest(0);
	SHOW(done);
	SHOW(futex(&one, FUTEX_WAKE_PRIVATE, 10, NULL, NULL, 0));
	SHOW(futex(&two, FUTEX_WAKE_PRIVATE, 10, NULL, NULL, 0));
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	SHOW(done);
	SHOW(futex(&one, FUTEX_REQUEUE_PRIVATE, 1, (void *)1, &two, 0));
}
