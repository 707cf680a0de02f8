// MSG_PEEK, MSG_WAITALL, MSG_DONTWAIT and MSG_TRUNC on a stream.
#include "net.h"

static void *later(void *p)
{
	nap(30);
	MUST(write(*(int *)p, "56789", 5));
	return NULL;
}

int main(void)
{
	int s[2];
	char b[16] = {0};
	tcp_pair(s);
	SHOW(recv(s[1], b, 8, MSG_DONTWAIT));
	SHOW(write(s[0], "01234", 5));
	wait_for("sent", s[1], POLLIN);
	SHOW(recv(s[1], b, 3, MSG_PEEK));
	SHOW(recv(s[1], b, 16, MSG_PEEK));
	printf("%.5s\n", b);
	SHOW(recv(s[1], b, 8, MSG_WAITALL | MSG_DONTWAIT | MSG_PEEK));
	pthread_t t = start(later, &s[0]);
	SHOW(recv(s[1], b, 8, MSG_WAITALL));
	printf("%.8s\n", b);
	pthread_join(t, NULL);
	SHOW(recv(s[1], NULL, 1, MSG_TRUNC));
	SHOW(recv(s[1], b, 16, 0));
	printf("%.1s\n", b);
	MUST(write(s[0], "ab", 2));
	wait_for("again", s[1], POLLIN);
	SHOW(recv(s[1], b, 0, 0));
	close(s[0]);
	SHOW(recv(s[1], b, 8, MSG_WAITALL));
	SHOW(recv(s[1], b, 8, MSG_WAITALL));
}
