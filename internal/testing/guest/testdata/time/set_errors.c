// What is refused of setting the clock to who may not, before and after what is wrong with it.
// guest: root
#include "guest.h"
#include <sys/timex.h>

static struct timespec at(long sec, long nsec) { return (struct timespec){sec, nsec}; }

static long set(clockid_t clock, long sec, long nsec)
{
	struct timespec t = at(sec, nsec);
	return syscall(SYS_clock_settime, clock, &t);
}

static long day(long sec, long usec)
{
	struct timeval t = {sec, usec};
	return syscall(SYS_settimeofday, &t, NULL);
}

static long adjust(clockid_t clock, unsigned modes)
{
	struct timex t = {.modes = modes, .tick = 10000};
	long r = syscall(SYS_clock_adjtime, clock, &t);
	return r > 0 ? 0 : r; // whether it is synchronized
}

int main(void)
{
	struct timezone zone = {10000, 0};
	clockid_t mine;
	clock_getcpuclockid(0, &mine);
	MUST(setuid(65534)); // before anything: natively this is the machine's clock
	SHOW(set(CLOCK_REALTIME, 2000000000, 0));
	SHOW(set(CLOCK_REALTIME, -1, 0));
	SHOW(set(CLOCK_REALTIME, 2000000000, 1000000000));
	SHOW(set(CLOCK_REALTIME, 2000000000, -1));
	SHOW(set(CLOCK_REALTIME, 9000000000, 0));
	SHOW(set(CLOCK_REALTIME, 8000000000, 0));
	SHOW(set(CLOCK_REALTIME, 0, 0));
	SHOW(set(CLOCK_MONOTONIC, 2000000000, 0));
	SHOW(set(CLOCK_BOOTTIME, 2000000000, 0));
	SHOW(set(CLOCK_TAI, 2000000000, 0));
	SHOW(set(CLOCK_PROCESS_CPUTIME_ID, 2000000000, 0));
	SHOW(set(CLOCK_REALTIME_COARSE, 2000000000, 0));
	SHOW(set(mine, 2000000000, 0));
	SHOW(set(99, 2000000000, 0));
	SHOW(syscall(SYS_clock_settime, CLOCK_REALTIME, 16));
	SHOW(syscall(SYS_clock_settime, CLOCK_MONOTONIC, 16));
	SHOW(day(2000000000, 0));
	SHOW(day(2000000000, 1000000));
	SHOW(day(2000000000, -1));
	SHOW(day(-1, 0));
	SHOW(syscall(SYS_settimeofday, 16, NULL));
	SHOW(syscall(SYS_settimeofday, NULL, 16));
	SHOW(syscall(SYS_settimeofday, NULL, &zone));
	SHOW(syscall(SYS_settimeofday, NULL, NULL));
	SHOW(adjust(CLOCK_REALTIME, 0));
	SHOW(adjust(CLOCK_REALTIME, ADJ_FREQUENCY));
	SHOW(adjust(CLOCK_REALTIME, ADJ_SETOFFSET));
	SHOW(adjust(CLOCK_REALTIME, ADJ_OFFSET_SINGLESHOT));
	SHOW(adjust(CLOCK_REALTIME, ADJ_OFFSET_SS_READ));
	SHOW(adjust(CLOCK_REALTIME, 0x8000));
	SHOW(adjust(CLOCK_MONOTONIC, 0));
	SHOW(adjust(CLOCK_PROCESS_CPUTIME_ID, 0));
	SHOW(adjust(mine, 0));
	SHOW(adjust(99, 0));
	SHOW(syscall(SYS_adjtimex, 16));
	SHOW(syscall(SYS_clock_adjtime, 99, 16));
	return 0;
}
