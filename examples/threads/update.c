// Two deposits of one amount each: a clerk reads the balance, and then writes what it is with the
// deposit. The careless one gives the lock back in between, and a deposit is lost. Nobody waits for
// the lock unless a thread is late, so no call shows that it is taken.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance, careful;

static void *clerk(void *arg) {
	(void)arg;
	pthread_mutex_lock(&lock);
	int was = balance;
	if (!careful) {
		pthread_mutex_unlock(&lock);
		pthread_mutex_lock(&lock);
	}
	balance = was + 1;
	pthread_mutex_unlock(&lock);
	return 0;
}

int main(int argc, char **argv) {
	careful = argc < 2 || strcmp(argv[1], "careless");
	pthread_t a, b;
	pthread_create(&a, 0, clerk, 0);
	pthread_create(&b, 0, clerk, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	printf("balance %d\n", balance);
	if (balance != 2) abort();
}
