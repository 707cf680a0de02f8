// Threads that poll different descriptors are woken each by its own.
#include "guest.h"

enum { n = 5 };
static int p[n][2];
static char order[n + 1];
static int turn;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *waiter(void *arg)
{
	long i = (long)arg;
	struct pollfd f[2] = {{p[i][0], POLLIN, 0}, {p[(i + 1) % n][1], 0, 0}};
	poll(f, 2, -1);
	pthread_mutex_lock(&lock);
	order[turn++] = '0' + i;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t t[n];
	for (long i = 0; i < n; i++)
		MUST(pipe(p[i]));
	for (long i = 0; i < n; i++)
		t[i] = start(waiter, (void *)i);
	rest(0);
	for (int i = 0, k = 0; i < n; i++, k = (k + 2) % n) {
		MUST(write(p[k][1], "x", 1));
		pthread_join(t[k], NULL);
	}
	printf("%s\n", order);
}
