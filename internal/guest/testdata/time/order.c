// Sleepers wake in the order of their deadlines.
#include "guest.h"

enum { n = 6 };
static char order[n + 1];
static int turn;

static void *sleeper(void *x)
{
	nap(20 + 25 * (long)x);
	order[__sync_fetch_and_add(&turn, 1)] = '0' + (long)x;
	return NULL;
}

int main(void)
{
	static const long who[n] = {3, 1, 5, 0, 4, 2};
	pthread_t t[n];
	for (int i = 0; i < n; i++)
		t[i] = start(sleeper, (void *)who[i]);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	printf("%s\n", order);
}
