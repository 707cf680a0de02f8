// A bounded queue between producers and consumers; time-outs of conditions.
#include "guest.h"

enum { room = 4, items = 500, n = 3 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, less = PTHREAD_COND_INITIALIZER;
static int queue[room], have, next, taken;
static long sum;

static void *producer(void *x)
{
	for (int i = 1; i <= items; i++) {
		pthread_mutex_lock(&m);
		while (have == room)
			pthread_cond_wait(&less, &m);
		queue[(next + have++) % room] = i;
		pthread_cond_signal(&more);
		pthread_mutex_unlock(&m);
	}
	return x;
}

static void *consumer(void *x)
{
	for (;;) {
		pthread_mutex_lock(&m);
		while (have == 0 && taken < n * items)
			pthread_cond_wait(&more, &m);
		if (taken == n * items) {
			pthread_cond_broadcast(&more);
			pthread_mutex_unlock(&m);
			return x;
		}
		sum += queue[next];
		next = (next + 1) % room;
		have--;
		taken++;
		pthread_cond_signal(&less);
		pthread_mutex_unlock(&m);
	}
}

int main(void)
{
	pthread_t t[2 * n];
	for (int i = 0; i < n; i++) {
		t[i] = start(producer, NULL);
		t[n + i] = start(consumer, NULL);
	}
	for (int i = 0; i < 2 * n; i++)
		pthread_join(t[i], NULL);
	SHOW(taken);
	SHOW(sum);
	struct timespec at;
	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_nsec += 20000000;
	if (at.tv_nsec >= 1000000000)
		at.tv_sec++, at.tv_nsec -= 1000000000;
	pthread_mutex_lock(&m);
	SHOWE(pthread_cond_timedwait(&more, &m, &at));
	SHOWE(pthread_cond_timedwait(&more, &m, &at));
	pthread_mutex_unlock(&m);
}
