// Locks of open file descriptions: between descriptors of one process, kept over fork.
#include "guest.h"

static int lock(int fd, int cmd, int type, long from, long len)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = from, .l_len = len};
	return fcntl(fd, cmd, &l);
}

int main(void)
{
	int a = MUST(open("f", O_RDWR | O_CREAT, 0600)), b = MUST(open("f", O_RDWR));
	SHOW(lock(a, F_OFD_SETLK, F_WRLCK, 0, 10));
	SHOW(lock(b, F_OFD_SETLK, F_WRLCK, 5, 10));
	SHOW(lock(b, F_OFD_SETLK, F_WRLCK, 10, 10));
	SHOW(lock(a, F_SETLK, F_WRLCK, 0, 5));
	struct flock g = {.l_type = F_WRLCK, .l_start = 0, .l_len = 100};
	SHOW(fcntl(b, F_OFD_GETLK, &g));
	printf("%d from %ld for %ld, pid %d\n", g.l_type, (long)g.l_start, (long)g.l_len, g.l_pid);
	pid_t child = fork();
	if (child == 0) {
		int r = lock(a, F_OFD_SETLK, F_UNLCK, 0, 10);
		_exit(r);
	}
	show_wait("child", child);
	SHOW(lock(b, F_OFD_SETLK, F_WRLCK, 0, 10));
	int d = MUST(dup(b));
	close(b);
	SHOW(lock(a, F_OFD_SETLK, F_RDLCK, 0, 1));
	close(d);
	SHOW(lock(a, F_OFD_SETLK, F_RDLCK, 0, 1));
	g.l_pid = 5;
	SHOW(fcntl(a, F_OFD_SETLK, &g));
}
