// Times and sets of signals are read when a call begins.
#include "argument.h"
#include <linux/futex.h>
#include <mqueue.h>
#include <sys/epoll.h>
#include <sys/sem.h>
#include <sys/select.h>

static struct timespec soon, later;
static struct timeval soonv;
static sigset_t set, none;
static int word, sem, ep, p[2];
static mqd_t q;
static struct sembuf op = {0, -1, 0};
static char b[64];

static void *sleeps(void *x) { SHOW(nanosleep(&soon, NULL)); return x; }
static void *sleeps_on(void *x) { SHOWE(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &soon, NULL)); return x; }
static void *takes(void *x) { SHOW(sigtimedwait(&set, NULL, NULL)); return x; }
static void *takes_soon(void *x) { SHOW(sigtimedwait(&set, NULL, &soon)); return x; }
static void *waits_for(void *x) { SHOW(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &soon, NULL, 0)); return x; }
static void *waits_until(void *x) { SHOW(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &soon, NULL, -1)); return x; }
static void *gets(void *x) { SHOW(semtimedop(sem, &op, 1, &soon)); return x; }
static void *polls(void *x) { struct pollfd f = {p[0], POLLIN}; SHOW(ppoll(&f, 1, &soon, NULL)); return x; }
static void *selects(void *x) { fd_set s; FD_ZERO(&s); SHOW(pselect(0, &s, NULL, NULL, &soon, NULL)); return x; }
static void *selectsv(void *x) { SHOW(select(0, NULL, NULL, NULL, &soonv)); return x; }
static void *asks(void *x) { struct epoll_event e; SHOW(syscall(441, ep, &e, 1, &soon, NULL, 8)); return x; }
static void *receives(void *x) { SHOW(mq_timedreceive(q, b, sizeof b, NULL, &soon)); return x; }
static void *suspended(void *x) { SHOW(syscall(SYS_rt_sigsuspend, &none, 8)); return x; }

#define SOON(f, absolute, clock) \
	do { \
		soon = (struct timespec){0, 60000000}; \
		if (absolute) { \
			clock_gettime(clock, &soon); \
			if ((soon.tv_nsec += 60000000) >= 1000000000) \
				soon.tv_sec++, soon.tv_nsec -= 1000000000; \
		} \
		later = (struct timespec){soon.tv_sec + 5, 0}; \
		long began = now_ms(); \
		pthread_t t = waits(f); \
		MEANWHILE(soon = later, ); \
		joined(t); \
		SURE(now_ms() - began < 3000); \
	} while (0)

int main(void)
{
	SOON(sleeps, 0, 0);
	SOON(sleeps_on, 1, CLOCK_MONOTONIC);
	SOON(waits_for, 0, 0);
	SOON(waits_until, 1, CLOCK_MONOTONIC);
	sem = MUST(semget(IPC_PRIVATE, 1, 0600));
	SOON(gets, 0, 0);
	MUST(pipe(p));
	SOON(polls, 0, 0);
	SOON(selects, 0, 0);
	soonv = (struct timeval){0, 60000};
	pthread_t t = waits(selectsv);
	MEANWHILE(soonv.tv_sec = 5, );
	joined(t);
	SURE(soonv.tv_sec == 0);
	ep = epoll_create1(0);
	SOON(asks, 0, 0);
	struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 16};
	q = MUST(mq_open("/argument", O_CREAT | O_RDWR, 0600, &attr));
	mq_unlink("/argument");
	SOON(receives, 1, CLOCK_REALTIME);

	sigset_t all;
	sigemptyset(&none);
	sigemptyset(&all), sigaddset(&all, SIGUSR1), sigaddset(&all, SIGUSR2), sigprocmask(SIG_BLOCK, &all, NULL);
	sigemptyset(&set), sigaddset(&set, SIGUSR1);
	SOON(takes_soon, 0, 0);
	t = waits(takes);
	MEANWHILE((sigemptyset(&set), sigaddset(&set, SIGUSR2)), { kill(getpid(), SIGUSR2); nap(20); kill(getpid(), SIGUSR1); });
	joined(t);
	on(SIGUSR2, nothing, 0), on(SIGUSR1, nothing, 0);
	struct timespec now = {0};
	SHOW(sigtimedwait(&all, NULL, &now));
	t = waits(suspended);
	MEANWHILE(sigfillset(&none), pthread_kill(t, SIGUSR1));
	joined(t);
	semctl(sem, 0, IPC_RMID);
}
