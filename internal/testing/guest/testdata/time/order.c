// Sleepers wake in the order of their deadlines.
#include "guest.h"

enum { n = 6 };
static struct timespec base;
static char order[n + 1];
static int turn;

static void *sleeper(void *x)
{
	long ms = 100 + 80 * (long)x;
	struct timespec t = {base.tv_sec + (base.tv_nsec / 1000000 + ms) / 1000, (base.tv_nsec / 1000000 + ms) % 1000 * 1000000};
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	order[__sync_fetch_and_add(&turn, 1)] = '0' + (long)x;
	return NULL;
}

int main(void)
{
	static const long who[n] = {3, 1, 5, 0, 4, 2};
	pthread_t t[n];
	clock_gettime(CLOCK_MONOTONIC, &base);
	for (int i = 0; i < n; i++)
		t[i] = start(sleeper, (void *)who[i]);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	printf("%s\n", order);
}
