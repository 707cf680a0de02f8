// The vDSO image that Ariadne maps in place of Linux's: clock reads without a
// stop, from the node's virtual clock. Built by `go generate`; see vdso.go.
typedef unsigned long u64;
typedef long s64;

// The clock page, at kernel.ClockAddr; written by internal/node as vdso.Clock.
struct clock {
	u64 now;   // virtual ns since the start of the execution
	u64 mono;  // CLOCK_MONOTONIC at time 0, ns
	u64 real;  // CLOCK_REALTIME at time 0, ns since the epoch
	u64 cost;  // ns that a read takes
	u64 reads; // since the node layer last looked
};
#define CLOCK ((volatile struct clock *)0x6f0000000000ul)

struct timespec { s64 sec, nsec; };
struct timeval { s64 sec, usec; };

static inline long syscall2(long nr, long a, long b)
{
	long r;
	__asm__ volatile("syscall" : "=a"(r) : "a"(nr), "D"(a), "S"(b) : "rcx", "r11", "memory");
	return r;
}

// A read costs time, so that a loop which waits for a clock ends; one that only
// reads, a million times between two calls, is hurried on.
static inline u64 tick(void)
{
	u64 n = __atomic_fetch_add(&CLOCK->reads, 1, __ATOMIC_RELAXED) >> 20;
	if (n > 14)
		n = 14;
	return __atomic_add_fetch(&CLOCK->now, CLOCK->cost << n, __ATOMIC_RELAXED);
}

int __vdso_clock_gettime(int id, struct timespec *ts)
{
	u64 t;
	switch (id) {
	case 0: case 5:
		t = tick() + CLOCK->real;
		break;
	case 1: case 4: case 6: case 7:
		t = tick() + CLOCK->mono;
		break;
	default:
		return syscall2(228, id, (long)ts);
	}
	ts->sec = t / 1000000000;
	ts->nsec = t % 1000000000;
	return 0;
}

int __vdso_gettimeofday(struct timeval *tv, int *tz)
{
	if (tv) {
		u64 t = tick() + CLOCK->real;
		tv->sec = t / 1000000000;
		tv->usec = t % 1000000000 / 1000;
	}
	if (tz)
		tz[0] = tz[1] = 0;
	return 0;
}

s64 __vdso_time(s64 *out)
{
	s64 s = (tick() + CLOCK->real) / 1000000000;
	if (out)
		*out = s;
	return s;
}

int __vdso_clock_getres(int id, struct timespec *ts)
{
	return syscall2(229, id, (long)ts);
}

int __vdso_getcpu(unsigned *cpu, unsigned *node, void *unused)
{
	(void)unused;
	if (cpu)
		*cpu = 0;
	if (node)
		*node = 0;
	return 0;
}

int clock_gettime(int, struct timespec *) __attribute__((weak, alias("__vdso_clock_gettime")));
int gettimeofday(struct timeval *, int *) __attribute__((weak, alias("__vdso_gettimeofday")));
s64 time(s64 *) __attribute__((weak, alias("__vdso_time")));
int clock_getres(int, struct timespec *) __attribute__((weak, alias("__vdso_clock_getres")));
int getcpu(unsigned *, unsigned *, void *) __attribute__((weak, alias("__vdso_getcpu")));
