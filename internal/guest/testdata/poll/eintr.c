// poll and select are never restarted, SA_RESTART or not.
#include "guest.h"

int main(void)
{
	struct itimerval it = {{0, 0}, {0, 30000}};
	int p[2];
	fd_set r;
	MUST(pipe(p));
	struct pollfd f = {.fd = p[0], .events = POLLIN};
	on(SIGALRM, nothing, SA_RESTART);
	MUST(setitimer(ITIMER_REAL, &it, NULL));
	SHOW(poll(&f, 1, 5000));
	MUST(setitimer(ITIMER_REAL, &it, NULL));
	FD_ZERO(&r);
	FD_SET(p[0], &r);
	SHOW(select(p[0] + 1, &r, NULL, NULL, NULL));
	signal(SIGALRM, SIG_IGN);
	MUST(setitimer(ITIMER_REAL, &it, NULL));
	SHOW(poll(&f, 1, 100));
}
