// Two threads that print where they are, as return addresses, and wait. Each address is in a line
// "NAME 0x…", from the innermost function outwards.
#define _GNU_SOURCE
#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) long inner(const char *name, long secret) {
	void *at[64];
	double half = secret / 2.0;
	pthread_mutex_lock(&printing);
	int n = backtrace(at, 64);
	for (int i = 0; i < n; i++)
		printf("%s %p\n", name, at[i]);
	fflush(stdout);
	pthread_mutex_unlock(&printing);
	struct timespec long_time = {1000, 0};
	nanosleep(&long_time, NULL);
	return secret + (long)half;
}

__attribute__((noinline)) long outer(const char *name, long secret) { return inner(name, secret * 2) + 1; }

static void *thread(void *name) { return (void *)(outer(name, 21) + 1); }

int main(void) {
	pthread_t t;
	pthread_create(&t, NULL, thread, "second");
	long r = outer("main", 50) + 1;
	pthread_join(t, NULL);
	return r == 0;
}
