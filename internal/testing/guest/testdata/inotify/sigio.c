// SIGIO tells that there are events.
#include "guest.h"
#include <sys/inotify.h>

static volatile int signals;
static void count(int sig) { signals++; }

int main(void)
{
	char b[256];
	on(SIGIO, count, SA_RESTART);
	int fd = MUST(inotify_init1(IN_NONBLOCK)), x = 1;
	SHOW(inotify_add_watch(fd, ".", IN_CREATE));
	SHOW(fcntl(fd, F_SETOWN, getpid()));
	close(MUST(open("before", O_CREAT | O_WRONLY, 0600)));
	printf("%d signals\n", signals);
	SHOW(fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK));
	close(MUST(open("after", O_CREAT | O_WRONLY, 0600)));
	printf("%d signals\n", signals);
	SHOW(read(fd, b, sizeof b) > 0);
	printf("%d signals\n", signals);
	SHOW(mkdir("dir", 0700));
	printf("%d signals\n", signals);
	x = 0;
	SHOW(ioctl(fd, FIOASYNC, &x));
	SHOW(mkdir("other", 0700));
	printf("%d signals\n", signals);
	return 0;
}
