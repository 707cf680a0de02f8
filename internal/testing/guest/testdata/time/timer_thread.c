// POSIX timers that run a function in a thread.
#include "guest.h"
#include <semaphore.h>

static sem_t s;
static int value;

static void fire(union sigval v)
{
	value += v.sival_int;
	sem_post(&s);
}

int main(void)
{
	struct sigevent ev = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = fire, .sigev_value.sival_int = 5};
	struct itimerspec it = {{0, 0}, {0, 10000000}};
	timer_t t;
	sem_init(&s, 0, 0);
	SHOW(timer_create(CLOCK_MONOTONIC, &ev, &t));
	for (int i = 0; i < 3; i++) {
		MUST(timer_settime(t, 0, &it, NULL));
		SHOW(sem_wait(&s));
	}
	SHOW(value);
	SHOW(timer_delete(t));
}
