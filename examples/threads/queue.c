// A bounded buffer of one place, of which the careless version has one condition for two
// reasons to wait: a signal may wake one who waits for the same as the one that sends it, and all
// of them wait for ever. The textbook's bug; it takes two consumers.
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int full, careful;

static void say(const char *s) {
	if (write(1, s, strlen(s)) < 0) _exit(1);
}

static void tell(void) {
	if (careful)
		pthread_cond_broadcast(&changed);
	else
		pthread_cond_signal(&changed);
}

static void *consume(void *arg) {
	pthread_mutex_lock(&lock);
	while (!full) pthread_cond_wait(&changed, &lock);
	full = 0;
	tell();
	say(arg ? "second\n" : "first\n");
	pthread_mutex_unlock(&lock);
	return 0;
}

int main(int argc, char **argv) {
	careful = argc < 2 || strcmp(argv[1], "careless");
	pthread_t a, b;
	pthread_create(&a, 0, consume, 0);
	pthread_create(&b, 0, consume, (void *)1);
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&lock);
		while (full) pthread_cond_wait(&changed, &lock);
		full = 1;
		tell();
		say("put\n");
		pthread_mutex_unlock(&lock);
	}
	pthread_join(a, 0);
	pthread_join(b, 0);
	say("done\n");
}
