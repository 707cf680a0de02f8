// select: the sets it leaves behind, bad descriptors, bad times.
#include "guest.h"

int main(void)
{
	int a[2], b[2];
	fd_set r, w;
	struct timeval tv = {0, 20000}, bad = {0, -1};
	MUST(pipe(a));
	MUST(pipe(b));
	MUST(write(b[1], "x", 1));
	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_SET(a[0], &r);
	FD_SET(b[0], &r);
	FD_SET(a[1], &w);
	SHOW(select(64, &r, &w, NULL, NULL));
	printf("%d %d %d\n", !!FD_ISSET(a[0], &r), !!FD_ISSET(b[0], &r), !!FD_ISSET(a[1], &w));
	FD_ZERO(&r);
	FD_SET(a[0], &r);
	SHOW(select(a[0] + 1, &r, NULL, NULL, &tv));
	printf("%d, left %ld.%06ld\n", !!FD_ISSET(a[0], &r), (long)tv.tv_sec, (long)tv.tv_usec);
	SHOW(select(0, NULL, NULL, NULL, &tv));
	FD_ZERO(&r);
	FD_SET(a[0], &r);
	close(a[0]);
	SHOW(select(64, &r, NULL, NULL, &tv));
	SHOW(select(-1, NULL, NULL, NULL, &tv));
	SHOW(select(0, NULL, NULL, NULL, &bad));
	FD_ZERO(&w);
	FD_SET(a[1], &w);
	SHOW(select(64, NULL, &w, NULL, NULL));
	signal(SIGPIPE, SIG_IGN);
	SHOW(write(a[1], "x", 1));
	FD_ZERO(&r);
	close(b[1]);
	FD_SET(b[0], &r);
	SHOW(select(64, &r, NULL, NULL, NULL));
}
