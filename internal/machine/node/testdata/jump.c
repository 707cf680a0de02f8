// What waits for times of CLOCK_REALTIME, and what for a span, says when it goes on: seconds by
// CLOCK_MONOTONIC since the program began.
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static struct timespec begun, due; // due: a minute later, by CLOCK_REALTIME

static void say(const char *what, int result) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	long ms = (now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000;
	printf("%s %d %s\n", what, (int)(ms + 100) / 1000, result ? strerror(result) : "ok");
	fflush(stdout);
}

static void *sleeps(void *_) {
	say("sleep until", clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &due, 0));
	return 0;
}

static void *naps(void *_) {
	struct timespec five = {5, 0};
	say("sleep for", clock_nanosleep(CLOCK_REALTIME, 0, &five, 0));
	return 0;
}

static void *condition(void *_) {
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	pthread_mutex_lock(&m);
	say("condition", pthread_cond_timedwait(&c, &m, &due));
	return 0;
}

static void *timer(void *flags) {
	struct itimerspec at = {.it_value = due};
	int fd = timerfd_create(CLOCK_REALTIME, 0);
	uint64_t n;
	timerfd_settime(fd, (intptr_t)flags, &at, 0);
	int failed = read(fd, &n, 8) < 0 ? errno : 0;
	say((intptr_t)flags & TFD_TIMER_CANCEL_ON_SET ? "timer that is cancelled" : "timer", failed);
	return 0;
}

int main(void) {
	pthread_t t;
	clock_gettime(CLOCK_MONOTONIC, &begun);
	clock_gettime(CLOCK_REALTIME, &due);
	due.tv_sec += 60;
	pthread_create(&t, 0, sleeps, 0);
	pthread_create(&t, 0, naps, 0);
	pthread_create(&t, 0, condition, 0);
	pthread_create(&t, 0, timer, (void *)TFD_TIMER_ABSTIME);
	pthread_create(&t, 0, timer, (void *)(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET));
	for (;;)
		pause();
}
