// Locks on what is no file: standard input, pipes, sockets, epoll sets.
#include "guest.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>

static void both(const char *what, int a, int b)
{
	struct flock w = {.l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = 3, .l_len = 5};
	struct flock r = {.l_type = F_RDLCK, .l_whence = SEEK_CUR}, g = {.l_type = F_WRLCK};
	printf("%s\n", what);
	SHOW(flock(a, LOCK_EX | LOCK_NB));
	SHOW(flock(b, LOCK_SH | LOCK_NB));
	SHOW(fcntl(a, F_SETLK, &r));
	SHOW(fcntl(b, F_SETLK, &w));
	SHOW(fcntl(a, F_OFD_SETLK, &w));
	r.l_type = F_UNLCK;
	SHOW(fcntl(a, F_SETLK, &r));
	w.l_pid = 0;
	SHOW(fcntl(b, F_OFD_SETLK, &w));
	if (fork() == 0) {
		SHOW(fcntl(a, F_GETLK, &g));
		printf("%d %ld %ld %d\n", g.l_type, (long)g.l_start, (long)g.l_len, g.l_pid == getppid());
		SHOW(flock(a, LOCK_UN));
		SHOW(flock(b, LOCK_EX | LOCK_NB));
		_exit(0);
	}
	wait(NULL);
	close(a);
	close(b);
}

int main(void)
{
	int p[2], s[2];
	struct flock l = {.l_type = F_RDLCK};
	SHOW(flock(0, LOCK_EX | LOCK_NB));
	SHOW(fcntl(0, F_SETLK, &l));
	SHOW(fcntl(0, F_OFD_SETLK, &l));
	MUST(pipe(p));
	both("pipe", p[0], p[1]);
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	both("sockets", s[0], s[1]);
	both("epoll and eventfd", epoll_create1(0), eventfd(0, 0));
	SHOW(flock(open("/dev/urandom", O_RDONLY), LOCK_EX | LOCK_NB));
	SHOW(flock(open("/dev/urandom", O_RDONLY), LOCK_SH | LOCK_NB));
	SHOW(flock(open("/proc/self", O_RDONLY | O_DIRECTORY), LOCK_EX | LOCK_NB));
	SHOW(flock(open("/proc/self", O_PATH), LOCK_EX | LOCK_NB));
}
