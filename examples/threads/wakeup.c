// A lost wake-up: who is careless looks at the flag without the lock, and then waits for a signal
// that may have been sent in between.
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int done;

static void say(const char *s) {
	if (write(1, s, strlen(s)) < 0) _exit(1);
}

static void *work(void *arg) {
	(void)arg;
	say("work is done\n");
	pthread_mutex_lock(&lock);
	done = 1;
	pthread_cond_signal(&ready);
	pthread_mutex_unlock(&lock);
	return 0;
}

int main(int argc, char **argv) {
	int careful = argc < 2 || strcmp(argv[1], "careless");
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	if (careful) {
		say("waiting\n");
		pthread_mutex_lock(&lock);
		while (!done) pthread_cond_wait(&ready, &lock);
		pthread_mutex_unlock(&lock);
	} else if (!__atomic_load_n(&done, __ATOMIC_SEQ_CST)) {
		say("waiting\n");
		pthread_mutex_lock(&lock);
		pthread_cond_wait(&ready, &lock);
		pthread_mutex_unlock(&lock);
	}
	pthread_join(t, 0);
	say("joined\n");
}
