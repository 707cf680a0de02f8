// Threads go round after round together; one of them is the serial one.
#include "guest.h"

enum { n = 5, rounds = 20 };
static pthread_barrier_t b;
static int serial, step[n], torn;

static void *walker(void *x)
{
	long me = (long)x;
	for (int r = 0; r < rounds; r++) {
		step[me] = r;
		if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD)
			__sync_fetch_and_add(&serial, 1);
		for (int i = 0; i < n; i++)
			if (step[i] != r)
				__sync_fetch_and_add(&torn, 1);
		pthread_barrier_wait(&b);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[n];
	SHOWE(pthread_barrier_init(&b, NULL, 0));
	SHOWE(pthread_barrier_init(&b, NULL, n));
	for (long i = 0; i < n; i++)
		t[i] = start(walker, (void *)i);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	SHOW(serial);
	SHOW(torn);
}
