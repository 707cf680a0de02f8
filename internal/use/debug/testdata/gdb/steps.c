// Two threads that take turns: one adds numbers whenever it has slept, and the other one prints
// what has become of it.
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int total, ends[2];

static int add(int a, int b)
{
	int sum = a + b;
	return sum;
}

static void work(int i)
{
	total = add(total, i);
	if (i % 2)
		total = add(total, 100);
	write(ends[1], &total, sizeof total);
}

static void *printer(void *arg)
{
	int seen;
	while (read(ends[0], &seen, sizeof seen) > 0) {
		printf("total %d\n", seen);
		fflush(stdout);
	}
	return arg;
}

int main(void)
{
	pthread_t t;
	pipe(ends);
	pthread_create(&t, NULL, printer, NULL);
	for (int i = 1; i <= 5; i++) {
		struct timespec pause = {0, 10000000};
		nanosleep(&pause, NULL);
		work(i);
	}
	close(ends[1]);
	pthread_join(t, NULL);
	return 3;
}
