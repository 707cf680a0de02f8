// A wait ended by a signal: EINTR, or restarted with SA_RESTART, but not with a time-out.
#include "futex.h"

static int word;

static void *waker(void *x)
{
	nap(80);
	rest(0);
	MUST(futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
	return x;
}

int main(void)
{
	struct timespec some = {5, 0};
	on(SIGALRM, nothing, 0);
	ring(20);
	SHOW(futex(&word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
	SHOW(futex(&word, FUTEX_WAIT_PRIVATE, 0, &some, NULL, 0));
	on(SIGALRM, nothing, SA_RESTART);
	pthread_t t = start(waker, NULL);
	SHOW(futex(&word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
	pthread_join(t, NULL);
}
