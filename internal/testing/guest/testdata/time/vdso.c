// The vDSO, the system call and the C library tell the same time.
#include "guest.h"
#include <sys/auxv.h>

static long long ns(struct timespec t) { return t.tv_sec * 1000000000LL + t.tv_nsec; }

int main(void)
{
	struct timespec a, b, c;
	int bad = 0;
	for (int i = 0; i < 1000; i++) {
		clock_gettime(CLOCK_MONOTONIC, &a);
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &b);
		clock_gettime(CLOCK_MONOTONIC, &c);
		bad += !(ns(a) <= ns(b) && ns(b) <= ns(c));
	}
	SHOW(bad);
	for (int i = 0; i < 1000; i++) {
		struct timeval v;
		clock_gettime(CLOCK_REALTIME, &a);
		syscall(SYS_gettimeofday, &v, NULL);
		clock_gettime(CLOCK_REALTIME, &c);
		b.tv_sec = v.tv_sec;
		b.tv_nsec = v.tv_usec * 1000;
		bad += !(ns(a) / 1000 <= ns(b) / 1000 && ns(b) / 1000 <= ns(c) / 1000);
	}
	SHOW(bad);
	SURE(syscall(SYS_time, NULL) - time(NULL) <= 1);
	SURE(getauxval(AT_PAGESZ) == 4096);
	SURE(getauxval(AT_RANDOM) != 0);
	SURE(getauxval(AT_EXECFN) != 0);
}
