// A client that never waits in a call: it polls with no time to wait. One of its
// threads sleeps and wakes meanwhile; in the end it gives up by the clock.
#include "../two.h"

static volatile int stop;

static void *sleeper(void *x)
{
	while (!stop)
		nap(5);
	return x;
}

int main(int argc, char **argv)
{
	char b[64];
	pthread_t t = start(sleeper, NULL);
	int s = reach(argv);
	struct pollfd p = {s, POLLIN, 0};
	for (int n = 1; n <= 3; n++) {
		nap(n == 2 ? 200 : 0);
		MUST(send(s, "hello, hello", 4 * n, 0));
		while (poll(&p, 1, 0) == 0)
			;
		printf("received %zd bytes\n", read(s, b, sizeof b));
	}
	SHOW(read(s, b, sizeof b));
	p.fd = socket(AF_INET, SOCK_DGRAM, 0);
	long end = now_ms() + 500, looks = 0;
	while (poll(&p, 1, 0) == 0 && now_ms() < end)
		looks++;
	SURE(looks > 10000);
	stop = 1;
	pthread_join(t, NULL);
}
