// The old vsyscall page, which old Go programs use when there is no vDSO.
#include "guest.h"

int main(void)
{
	time_t (*old_time)(time_t *) = (void *)0xffffffffff600400;
	int (*old_gettimeofday)(struct timeval *, void *) = (void *)0xffffffffff600000;
	struct timeval v;
	time_t a = time(NULL), b = old_time(NULL), c = time(NULL);
	SURE(a - 1 <= b && b <= c);
	SHOW(old_gettimeofday(&v, NULL));
	SURE(v.tv_sec >= a && v.tv_sec <= time(NULL) + 1);
	SURE(v.tv_usec < 1000000);
}
