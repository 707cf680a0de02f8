// A signal ends a write that has moved something: the count is returned.
#include "guest.h"

int main(void)
{
	static char b[200000];
	int p[2];
	MUST(pipe(p));
	on(SIGALRM, nothing, SA_RESTART);
	ring(20);
	SHOW(write(p[1], b, sizeof b));
	on(SIGALRM, nothing, 0);
	SHOW(write(p[1], b, 1));
}
