// A statically linked program: memory, time, files, fork.
// guest: static
#include "guest.h"

int main(void)
{
	char *p = malloc(1 << 22);
	memset(p, 7, 1 << 22);
	SHOW(p[1 << 21]);
	struct timespec t;
	SHOW(clock_gettime(CLOCK_REALTIME, &t));
	SURE(t.tv_sec > 1000000000);
	int fd = MUST(open("f", O_RDWR | O_CREAT, 0600));
	SHOW(write(fd, "abc", 3));
	pid_t child = fork();
	if (child == 0)
		_exit(5);
	show_wait("child", child);
	printf("%.3f\n", 2.5);
	nap(5);
}
