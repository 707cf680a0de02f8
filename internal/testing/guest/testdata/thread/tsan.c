// ThreadSanitizer keeps most of the address space for itself, and finds the races of
// the one order in which threads run.
// guest: gcc -fsanitize=thread
// guest: gcc -g
#include "guest.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int safe, unsafe;

static void *both(void *arg)
{
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&lock);
		safe++;
		pthread_mutex_unlock(&lock);
	}
	if (arg)
		unsafe++;
	return NULL;
}

static int report(int racing)
{
	pid_t pid = fork();
	if (pid == 0) {
		dup2(open("/dev/null", O_WRONLY), 2);
		pthread_t t[3];
		for (int i = 0; i < 3; i++)
			t[i] = start(both, racing ? t : NULL);
		for (int i = 0; i < 3; i++)
			pthread_join(t[i], NULL);
		SHOW(safe);
		exit(0);
	}
	show_wait(racing ? "with a race" : "without", pid);
	return 0;
}

int main(void)
{
	report(0);
	report(1);
}
