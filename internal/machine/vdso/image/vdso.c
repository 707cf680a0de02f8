// The vDSO image that Ariadne maps in place of Linux's: clock reads without a
// stop, from the node's virtual clock. Built by `go generate`; see vdso.go.
typedef unsigned long u64;
typedef long s64;

// The clock page, at kernel.ClockAddr; written by internal/machine/node as vdso.Clock.
struct clock {
	u64 now;   // virtual ns since the start of the execution
	u64 mono;  // CLOCK_MONOTONIC at time 0, ns
	u64 real;  // CLOCK_REALTIME at time 0, ns since the epoch
	u64 cost;  // ns that a read takes
	u64 reads; // since the node layer last looked
	u64 limit; // what now may not reach without the node layer
	u64 room;  // reads that may stand just below limit before one makes a call
	u64 asked; // the next call is made because of limit
};
#define CLOCK ((volatile struct clock *)0x7ffffa000000ul)

struct timespec { s64 sec, nsec; };
struct timeval { s64 sec, usec; };

static inline long syscall2(long nr, long a, long b)
{
	long r;
	__asm__ volatile("syscall" : "=a"(r) : "a"(nr), "D"(a), "S"(b) : "rcx", "r11", "memory");
	return r;
}

// A read costs time, so that a loop which waits for a clock ends; one that only
// reads, a million times between two calls, is hurried on. No read gets to limit,
// where a timer of the node's own may have to expire first: it stands just below,
// and after so many reads the caller has to make a call instead.
static inline int tick(u64 *t)
{
	u64 n = __atomic_fetch_add(&CLOCK->reads, 1, __ATOMIC_RELAXED) >> 20;
	if (n > 14)
		n = 14;
	u64 was = CLOCK->now, is;
	int stands;
	do {
		is = was + (CLOCK->cost << n);
		stands = is >= CLOCK->limit;
		if (stands)
			is = CLOCK->limit > was ? CLOCK->limit - 1 : was;
	} while (!__atomic_compare_exchange_n(&CLOCK->now, &was, is, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	*t = is;
	if (!stands)
		return 1;
	if (CLOCK->room > 0) {
		CLOCK->room--;
		return 1;
	}
	CLOCK->asked = 1;
	return 0;
}

int __vdso_clock_gettime(int id, struct timespec *ts)
{
	u64 t, base;
	switch (id) {
	case 0: case 5:
		base = CLOCK->real;
		break;
	case 1: case 4: case 6: case 7:
		base = CLOCK->mono;
		break;
	default:
		return syscall2(228, id, (long)ts);
	}
	if (!tick(&t))
		return syscall2(228, id, (long)ts);
	t += base;
	ts->sec = t / 1000000000;
	ts->nsec = t % 1000000000;
	return 0;
}

int __vdso_gettimeofday(struct timeval *tv, int *tz)
{
	u64 t;
	if (tv) {
		if (!tick(&t))
			return syscall2(96, (long)tv, (long)tz);
		t += CLOCK->real;
		tv->sec = t / 1000000000;
		tv->usec = t % 1000000000 / 1000;
	}
	if (tz)
		tz[0] = tz[1] = 0;
	return 0;
}

s64 __vdso_time(s64 *out)
{
	u64 t;
	if (!tick(&t))
		return syscall2(201, (long)out, 0);
	s64 s = (t + CLOCK->real) / 1000000000;
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
