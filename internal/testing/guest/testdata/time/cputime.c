// rusage, times and clock grow together and never shrink.
#include "guest.h"
#include <sys/times.h>

int main(void)
{
	struct rusage a, b;
	struct tms t;
	MUST(getrusage(RUSAGE_SELF, &a));
	clock_t c = clock();
	volatile double x = 1;
	for (int i = 0; i < 1000000; i++)
		x = x * 1.0000001;
	MUST(getrusage(RUSAGE_SELF, &b));
	SURE(timercmp(&b.ru_utime, &a.ru_utime, >=));
	SURE(timercmp(&b.ru_stime, &a.ru_stime, >=));
	SURE(b.ru_maxrss > 0);
	SURE(clock() >= c);
	SURE(times(&t) != (clock_t)-1);
	SHOW(getrusage(RUSAGE_CHILDREN, &a));
	SURE(a.ru_utime.tv_sec == 0 && a.ru_nvcsw == 0);
	SHOW(getrusage(RUSAGE_THREAD, &a));
	SHOW(getrusage(99, &a));
	SHOW(sysconf(_SC_CLK_TCK));
}
