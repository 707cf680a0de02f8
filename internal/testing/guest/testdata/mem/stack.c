// Deep recursion, large frames, variable arrays, the limit.
#include "guest.h"

static long deep(long n)
{
	volatile char frame[200];
	frame[n % 200] = n;
	return n == 0 ? 0 : 1 + deep(n - 1) + (frame[n % 200] != (char)n);
}

static long array(int n)
{
	volatile char a[n];
	long sum = 0;
	for (int i = 0; i < n; i += 1000)
		a[i] = 1;
	for (int i = 0; i < n; i += 1000)
		sum += a[i];
	return sum;
}

static void *in_thread(void *x)
{
	SHOW(deep(2000));
	return x;
}

static int endless(volatile char *up)
{
	volatile char here[10000];
	here[0] = up[0];
	return endless(here) + here[0];
}

int main(void)
{
	struct rlimit r;
	SHOW(deep(25000));
	SHOW(array(4000000));
	SHOW(getrlimit(RLIMIT_STACK, &r));
	pthread_join(start(in_thread, NULL), NULL);
	pid_t child = fork();
	if (child == 0) {
		char c = 0;
		r.rlim_cur = r.rlim_max = 0;
		setrlimit(RLIMIT_CORE, &r);
		_exit(endless(&c));
	}
	show_wait("endless", child);
}
