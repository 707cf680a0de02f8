// SA_RESTART: read, accept and wait go on; without it they end with EINTR.
#include "net.h"

static int p[2], l;
static struct sockaddr_in a;

static void *later(void *x)
{
	nap(60);
	if (x)
		dial(&a);
	else
		MUST(write(p[1], "x", 1));
	return NULL;
}

int main(void)
{
	char b[8];
	l = listener(&a);
	MUST(pipe(p));
	on(SIGALRM, nothing, 0);
	ring(20);
	SHOW(read(p[0], b, 8));
	SHOW(accept(l, NULL, NULL));
	pid_t child = fork();
	if (child == 0) {
		nap(200);
		_exit(1);
	}
	SHOW(waitpid(child, NULL, 0));
	on(SIGALRM, nothing, SA_RESTART);
	SURE(waitpid(child, NULL, 0) == child);
	pthread_t t = start(later, NULL);
	SHOW(read(p[0], b, 8));
	pthread_join(t, NULL);
	t = start(later, &t);
	SURE(accept(l, NULL, NULL) >= 0);
	pthread_join(t, NULL);
}
