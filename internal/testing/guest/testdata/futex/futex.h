// The futex call itself, which glibc does not offer.
#ifndef FUTEX_H
#define FUTEX_H
#include "../guest.h"
#include <linux/futex.h>

static inline long futex(void *addr, int op, unsigned val, void *timeout, void *addr2, unsigned val3)
{
	return syscall(SYS_futex, addr, op, val, timeout, addr2, val3);
}

// ms_from_now is an absolute time of a clock.
static inline struct timespec ms_from_now(clockid_t clock, int ms)
{
	struct timespec t;
	clock_gettime(clock, &t);
	t.tv_nsec += ms * 1000000L;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}
#endif
