// FUTEX_WAKE_OP changes one word and wakes the waiters of two.
#include "futex.h"

static int one, two = 5, done;

static void *waiter(void *x)
{
	MUST(futex(x, FUTEX_WAIT_PRIVATE, *(int *)x, NULL, NULL, 0));
	__sync_fetch_and_add(&done, 1);
	return NULL;
}

int main(void)
{
	pthread_t a = start(waiter, &one), b = start(waiter, &two);
	rest(0);
	SHOW(futex(&one, FUTEX_WAKE_OP_PRIVATE, 1, (void *)1, &two, FUTEX_OP(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_EQ, 4)));
	pthread_join(a, NULL);
	SHOW(two);
	SHOW(done);
	SHOW(futex(&one, FUTEX_WAKE_OP_PRIVATE, 1, (void *)1, &two, FUTEX_OP(FUTEX_OP_SET, 1, FUTEX_OP_CMP_GT, 4)));
	pthread_join(b, NULL);
	SHOW(two);
	SHOW(done);
}
