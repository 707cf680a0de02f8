// The clocks run forward, agree with one another and refuse nonsense.
#include "guest.h"

static long long read_ns(clockid_t c)
{
	struct timespec t;
	MUST(clock_gettime(c, &t));
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void monotone(const char *name, clockid_t c)
{
	long long last = read_ns(c), back = 0;
	for (int i = 0; i < 10000; i++) {
		long long now = read_ns(c);
		back += now < last;
		last = now;
	}
	printf("%s: %lld steps back\n", name, back);
}

int main(void)
{
	struct timespec t;
	struct timeval tv;
	monotone("monotonic", CLOCK_MONOTONIC);
	monotone("monotonic raw", CLOCK_MONOTONIC_RAW);
	monotone("monotonic coarse", CLOCK_MONOTONIC_COARSE);
	monotone("boottime", CLOCK_BOOTTIME);
	monotone("process cpu", CLOCK_PROCESS_CPUTIME_ID);
	monotone("thread cpu", CLOCK_THREAD_CPUTIME_ID);
	long long real = read_ns(CLOCK_REALTIME), mono = read_ns(CLOCK_MONOTONIC);
	nap(30);
	long long dr = read_ns(CLOCK_REALTIME) - real, dm = read_ns(CLOCK_MONOTONIC) - mono;
	SURE(dr >= 30000000 && dm >= 30000000);
	SURE(dr - dm < 1000000000 && dm - dr < 1000000000);
	MUST(gettimeofday(&tv, NULL));
	time_t sec = time(NULL);
	SURE(sec - tv.tv_sec <= 1 && tv.tv_sec <= sec + 1);
	SURE(sec > 1000000000);
	SHOW(clock_getres(CLOCK_MONOTONIC, &t));
	printf("resolution %ld ns\n", t.tv_nsec);
	SHOW(clock_gettime(77, &t));
	SHOW(clock_getres(77, NULL));
	SHOW(clock_gettime(CLOCK_REALTIME_COARSE, &t));
	clockid_t c;
	SHOWE(clock_getcpuclockid(getpid(), &c));
	SHOW(clock_gettime(c, &t));
	SHOWE(pthread_getcpuclockid(pthread_self(), &c));
	SHOW(clock_gettime(c, &t));
}
