// A robust mutex whose owner died, in a thread and in a process.
#include "guest.h"

static void *die(void *m)
{
	pthread_mutex_lock(m);
	return NULL;
}

static void life(pthread_mutex_t *m)
{
	SHOWE(pthread_mutex_lock(m));
	SHOWE(pthread_mutex_consistent(m));
	SHOWE(pthread_mutex_unlock(m));
	SHOWE(pthread_mutex_lock(m));
	SHOWE(pthread_mutex_unlock(m));
}

int main(void)
{
	pthread_mutex_t *m = shared(4096);
	int p[2];
	char locked;
	MUST(pipe(p));
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(m, &a);
	pthread_join(start(die, m), NULL);
	life(m);
	pid_t child = fork();
	if (child == 0) {
		pthread_mutex_lock(m);
		MUST(write(p[1], "x", 1));
		rest(getppid());
		_exit(0);
	}
	MUST(read(p[0], &locked, 1));
	life(m);
	show_wait("child", child);
	pthread_join(start(die, m), NULL);
	SHOWE(pthread_mutex_lock(m));
	SHOWE(pthread_mutex_unlock(m));
	SHOWE(pthread_mutex_lock(m));
}
