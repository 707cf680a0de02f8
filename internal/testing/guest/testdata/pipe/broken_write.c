// A blocked writer is told when the last reader goes; what was read stays written.
#include "guest.h"

static int p[2];

static void *reader(void *x)
{
	char b[4096];
	rest(0);
	MUST(read(p[0], b, sizeof b));
	rest(0);
	close(p[0]);
	return x;
}

int main(void)
{
	static char b[1 << 17];
	signal(SIGPIPE, SIG_IGN);
	MUST(pipe(p));
	pthread_t t = start(reader, NULL);
	SURE(write(p[1], b, sizeof b) == 65536 + 4096);
	SHOW(write(p[1], b, sizeof b));
	pthread_join(t, NULL);
}
