// POSIX record locks: ranges, who holds them, lost at any close.
#include "guest.h"

static int lock(int fd, int cmd, int type, long from, long len)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = from, .l_len = len};
	return fcntl(fd, cmd, &l);
}

static void who(int fd, int type, long from, long len, pid_t parent)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = from, .l_len = len};
	MUST(fcntl(fd, F_GETLK, &l));
	if (l.l_type == F_UNLCK)
		printf("[%ld,%ld): free\n", from, from + len);
	else
		printf("[%ld,%ld): %s lock of %s from %ld for %ld\n", from, from + len, l.l_type == F_WRLCK ? "write" : "read",
			l.l_pid == parent ? "parent" : "somebody", (long)l.l_start, (long)l.l_len);
}

int main(void)
{
	int fd = MUST(open("f", O_RDWR | O_CREAT, 0600)), p[2], q[2];
	char b;
	pid_t me = getpid();
	MUST(pipe(p));
	MUST(pipe(q));
	SHOW(lock(fd, F_SETLK, F_WRLCK, 0, 10));
	SHOW(lock(fd, F_SETLK, F_RDLCK, 20, 10));
	SHOW(lock(fd, F_SETLK, F_UNLCK, 3, 2));
	SHOW(lock(fd, F_SETLK, F_WRLCK, 100, 0));
	pid_t child = fork();
	if (child == 0) {
		who(fd, F_WRLCK, 0, 3, me);
		who(fd, F_WRLCK, 3, 2, me);
		who(fd, F_RDLCK, 5, 100, me);
		who(fd, F_RDLCK, 20, 5, me);
		who(fd, F_WRLCK, 20, 5, me);
		who(fd, F_RDLCK, 5000, 1, me);
		SHOW(lock(fd, F_SETLK, F_WRLCK, 3, 2));
		SHOW(lock(fd, F_SETLK, F_WRLCK, 3, 3));
		SHOW(lock(fd, F_SETLK, F_RDLCK, 22, 2));
		MUST(write(p[1], "x", 1));
		SHOW(lock(fd, F_SETLKW, F_WRLCK, 0, 5));
		MUST(read(q[0], &b, 1));
		_exit(0);
	}
	MUST(read(p[0], &b, 1));
	rest(child);
	// Closing any descriptor of the file gives all locks up.
	close(MUST(open("f", O_RDONLY)));
	rest(child);
	SHOW(lock(fd, F_SETLK, F_WRLCK, 4, 1));
	SHOW(lock(fd, F_SETLK, F_WRLCK, 5, 1));
	MUST(write(q[1], "x", 1));
	show_wait("child", child);
	SHOW(lock(fd, F_SETLK, F_WRLCK, 0, 0));
	SHOW(lock(fd, F_SETLK, 99, 0, 0));
	SHOW(lock(fd, F_SETLK, F_WRLCK, -5, 1));
	SHOW(lock(MUST(open("f", O_RDONLY)), F_SETLK, F_WRLCK, 0, 1));
	SHOW(lockf(fd, F_TLOCK, 10));
}
