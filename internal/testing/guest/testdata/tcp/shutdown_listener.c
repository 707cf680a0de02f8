// Shutting a listener down wakes who waits in accept and poll.
#include "net.h"

static int l;

static void *wait_accept(void *p)
{
	*(int *)p = accept(l, NULL, NULL) < 0 ? errno : 0;
	return NULL;
}

int main(void)
{
	struct sockaddr_in a;
	int e = -1;
	l = listener(&a);
	pthread_t t = start(wait_accept, &e);
	rest(0);
	SHOW(shutdown(l, SHUT_RDWR));
	pthread_join(t, NULL);
	printf("the waiting accept: %s\n", errname(e));
	SHOW(accept(l, NULL, NULL));
	int s = MUST(socket(AF_INET, SOCK_STREAM, 0));
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	SHOW(listen(l, 5));
}
