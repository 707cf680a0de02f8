// Eight threads, a connection each.
#include "../two.h"

static char **args;

static void *talk(void *x)
{
	long sum = 0;
	int s = reach(args);
	for (int i = 0; i < 10; i++) {
		int v = (long)x * 100 + i;
		MUST(write(s, &v, sizeof v));
		MUST(recv(s, &v, sizeof v, MSG_WAITALL));
		sum += v;
	}
	close(s);
	return (void *)sum;
}

int main(int argc, char **argv)
{
	pthread_t t[8];
	args = argv;
	for (long i = 0; i < 8; i++)
		t[i] = start(talk, (void *)i);
	for (int i = 0; i < 8; i++) {
		void *sum;
		pthread_join(t[i], &sum);
		printf("thread %d: %ld\n", i, (long)sum);
	}
}
