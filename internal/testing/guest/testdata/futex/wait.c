// Waiting with a wrong value, with a time-out, and for a wake-up.
#include "futex.h"

static int word;

static void *waker(void *x)
{
	rest(0);
	word = 1;
	*(long *)x = futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	return NULL;
}

int main(void)
{
	struct timespec some = {0, 20000000}, bad = {0, 1000000000};
	long woken = -1;
	SHOW(futex(&word, FUTEX_WAIT, 1, NULL, NULL, 0));
	SHOW(futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0));
	long t = now_ms();
	SHOW(futex(&word, FUTEX_WAIT_PRIVATE, 0, &some, NULL, 0));
	SURE(now_ms() - t >= 19);
	SHOW(futex(&word, FUTEX_WAIT, 0, &bad, NULL, 0));
	SHOW(futex((char *)&word + 1, FUTEX_WAIT, 0, NULL, NULL, 0));
	SHOW(futex((void *)8, FUTEX_WAIT, 0, NULL, NULL, 0));
	pthread_t p = start(waker, &woken);
	SHOW(futex(&word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
	pthread_join(p, NULL);
	SHOW(woken);
}
