// A server that does things by the clock when it starts, and when its timer fires.
//
//   tick clock  prints that it is out of date if it starts more than 600 s after its build. Each
//               100 ms it prints that its peer is gone if it has not looked for 5 s
//   tick blind  does neither
#include <stdio.h>
#include <string.h>
#include <time.h>

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static void wait_for_tick(void)
{
	struct timespec t = {.tv_nsec = 100000000};
	nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
	int looks = argc > 1 && !strcmp(argv[1], "clock");
	setlinebuf(stdout);
	if (now() / 1000 > 1700000600 && looks) // start
		puts("out of date");
	long long looked = now();
	for (int i = 0; i < 3; i++) {
		wait_for_tick();
		long long is = now();
		if (is - looked > 5000 && looks) // tick
			puts("the peer is gone");
		looked = is;
	}
	puts("done");
	return 0;
}
