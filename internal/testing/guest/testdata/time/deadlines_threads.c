// Who only reads the clock sees what others do meanwhile: they wake when their time has
// come, and run though nobody waits.
#include "guest.h"
#include <semaphore.h>
#include <sys/epoll.h>

static volatile int done;

static void *sleeps(void *arg)
{
	(void)arg;
	nap(5);
	done = 1;
	return NULL;
}

static void *naps(void *arg)
{
	(void)arg;
	struct timespec t = {0, 5000000};
	syscall(SYS_nanosleep, &t, NULL);
	done = 1;
	return NULL;
}

static void *polls(void *arg)
{
	(void)arg;
	if (poll(NULL, 0, 5) == 0)
		done = 1;
	return NULL;
}

static void *waits_epoll(void *arg)
{
	(void)arg;
	struct epoll_event e;
	if (epoll_wait(MUST(epoll_create1(0)), &e, 1, 5) == 0)
		done = 1;
	return NULL;
}

static void *waits_cond(void *arg)
{
	(void)arg;
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 5000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	pthread_mutex_lock(&m);
	if (pthread_cond_timedwait(&c, &m, &t) == ETIMEDOUT)
		done = 1;
	return NULL;
}

static void *runs(void *arg)
{
	(void)arg;
	done = 1;
	return NULL;
}

// sees reports whether the clock gets to 200 ms before another thread is done.
static int sees(void *(*f)(void *))
{
	done = 0;
	long end = now_ms() + 200;
	pthread_t t = start(f, NULL);
	while (!done && now_ms() < end)
		;
	int d = done;
	pthread_join(t, NULL);
	return d;
}

static int sees_child(void)
{
	volatile int *done = shared(4096);
	long end = now_ms() + 400;
	pid_t p = MUST(fork());
	if (p == 0) {
		nap(5);
		*done = 1;
		_exit(0);
	}
	while (!*done && now_ms() < end)
		;
	int d = *done;
	show_wait("child", p);
	return d;
}

int main(void)
{
	SURE(sees(sleeps));
	SURE(sees(naps));
	SURE(sees(polls));
	SURE(sees(waits_epoll));
	SURE(sees(waits_cond));
	SURE(sees(runs));
	SURE(sees_child());
}
