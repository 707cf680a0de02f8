// Two accounts, each with a lock. Transfers take both, and note in a log what they do before they
// take the second. Who is careless takes them in the order in which they are named: a deadlock when
// two transfers go against each other.
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int careful;

static void say(const char *s) {
	if (write(1, s, strlen(s)) < 0) _exit(1);
}

static void *transfer(void *arg) {
	int from = arg != 0, first = careful ? 0 : from;
	pthread_mutex_lock(&lock[first]);
	say(from ? "from 1 to 0\n" : "from 0 to 1\n");
	pthread_mutex_lock(&lock[!first]);
	pthread_mutex_unlock(&lock[!first]);
	pthread_mutex_unlock(&lock[first]);
	return 0;
}

int main(int argc, char **argv) {
	careful = argc < 2 || strcmp(argv[1], "careless");
	pthread_t a, b;
	pthread_create(&a, 0, transfer, 0);
	pthread_create(&b, 0, transfer, (void *)1);
	pthread_join(a, 0);
	pthread_join(b, 0);
	say("done\n");
}
