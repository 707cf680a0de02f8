// POSIX semaphores: between threads, between processes, by name, with time-outs.
#include "guest.h"
#include <semaphore.h>

static sem_t s;

static void *poster(void *x)
{
	nap(20);
	sem_post(&s);
	return x;
}

int main(void)
{
	int v;
	struct timespec at;
	SHOW(sem_init(&s, 0, 1));
	SHOW(sem_wait(&s));
	SHOW(sem_trywait(&s));
	pthread_t t = start(poster, NULL);
	SHOW(sem_wait(&s));
	pthread_join(t, NULL);
	clock_gettime(CLOCK_REALTIME, &at);
	SHOW(sem_timedwait(&s, &at));
	SHOW(sem_getvalue(&s, &v));
	SHOW(v);
	sem_t *p = shared(4096);
	SHOW(sem_init(p, 1, 0));
	pid_t child = fork();
	if (child == 0) {
		nap(20);
		sem_post(p);
		_exit(0);
	}
	SHOW(sem_wait(p));
	show_wait("child", child);
	char name[64];
	sprintf(name, "/guest.%d", getpid());
	sem_t *n = sem_open(name, O_CREAT | O_EXCL, 0600, 2);
	SURE(n != SEM_FAILED);
	SURE(sem_open(name, O_CREAT | O_EXCL, 0600, 2) == SEM_FAILED && errno == EEXIST);
	SURE(sem_open(name, 0) == n);
	SHOW(sem_wait(n));
	child = fork();
	if (child == 0) {
		sem_t *c = sem_open(name, 0);
		_exit(sem_wait(c) == 0 && sem_trywait(c) < 0 && errno == EAGAIN ? 0 : 1);
	}
	show_wait("child", child);
	SHOW(sem_unlink(name));
	SHOW(sem_unlink(name));
}
