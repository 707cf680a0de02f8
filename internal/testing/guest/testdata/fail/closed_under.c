// guest: gcc -pthread
// A thread that waits in a call goes on waiting when another closes the descriptor; shutdown wakes it.
#include "net.h"

static int s[2], l;

static void *reads(void *x)
{
	char b[8];
	long r = recv(s[0], b, 8, 0);
	printf("recv: %s %ld\n", r < 0 ? errname(errno) : "ok", r);
	return x;
}

static void *accepts(void *x)
{
	long r = accept(l, NULL, NULL);
	printf("accept: %s\n", r < 0 ? errname(errno) : "ok");
	return x;
}

int main(void)
{
	struct sockaddr_in a;
	tcp_pair(s);
	pthread_t t = start(reads, NULL);
	rest(0);
	SHOW(close(s[0]));
	nap(10);
	int r = write(s[1], "late", 4);
	pthread_join(t, NULL);
	SHOW(r);
	tcp_pair(s);
	t = start(reads, NULL);
	rest(0);
	r = shutdown(s[0], SHUT_RD);
	pthread_join(t, NULL);
	SHOW(r);
	l = listener(&a);
	t = start(accepts, NULL);
	rest(0);
	r = shutdown(l, SHUT_RDWR);
	pthread_join(t, NULL);
	SHOW(r);
	SHOW(close(l));
	SHOW(close(l));
}
