// poll and select are never restarted, SA_RESTART or not.
#include "guest.h"

int main(void)
{
	int p[2];
	fd_set r;
	MUST(pipe(p));
	struct pollfd f = {.fd = p[0], .events = POLLIN};
	on(SIGALRM, nothing, SA_RESTART);
	ring(30);
	SHOW(poll(&f, 1, 5000));
	FD_ZERO(&r);
	FD_SET(p[0], &r);
	SHOW(select(p[0] + 1, &r, NULL, NULL, NULL));
	signal(SIGALRM, SIG_IGN);
	SHOW(poll(&f, 1, 100));
}
