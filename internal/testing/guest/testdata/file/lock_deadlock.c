// Two processes that would wait for each other: one is told EDEADLK.
#include "guest.h"

static int lock(int fd, int cmd, int type, long at)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
	return fcntl(fd, cmd, &l);
}

int main(void)
{
	int fd = MUST(open("f", O_RDWR | O_CREAT, 0600)), p[2];
	char b;
	MUST(pipe(p));
	SHOW(lock(fd, F_SETLK, F_WRLCK, 0));
	pid_t child = fork();
	if (child == 0) {
		MUST(lock(fd, F_SETLK, F_WRLCK, 1));
		MUST(write(p[1], "x", 1));
		_exit(lock(fd, F_SETLKW, F_WRLCK, 0) == 0 ? 0 : 1);
	}
	MUST(read(p[0], &b, 1));
	rest(child);
	SHOW(lock(fd, F_SETLKW, F_WRLCK, 1));
	SHOW(lock(fd, F_SETLK, F_UNLCK, 0));
	show_wait("child", child);
	SHOW(lock(fd, F_SETLKW, F_WRLCK, 1));
}
