// Adds up the numbers that its connections send, each in a thread, and answers with the
// sum so far.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;

static void *serve(void *arg)
{
	int c = *(int *)arg;
	FILE *f = fdopen(c, "r");
	long n;
	free(arg);
	while (fscanf(f, "%ld", &n) == 1) {
		pthread_mutex_lock(&lock);
		n = sum += n;
		pthread_mutex_unlock(&lock);
		dprintf(c, "%ld\n", n);
	}
	fclose(f);
	return NULL;
}

int main(void)
{
	int s = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(7)};
	if (bind(s, (void *)&a, sizeof a) || listen(s, 9)) {
		perror("server");
		return 1;
	}
	for (;;) {
		int *c = malloc(sizeof *c);
		pthread_t t;
		if ((*c = accept(s, NULL, NULL)) < 0)
			return 1;
		pthread_create(&t, NULL, serve, c);
		pthread_detach(t);
	}
}
