// lseek, pread and sendfile on what is no file, and the order in which they look at their
// arguments.
#include "net.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

static void seek(const char *what, int fd)
{
	printf("%s\n", what);
	SHOW(lseek(fd, 0, SEEK_SET));
	SHOW(lseek(fd, 5, SEEK_CUR));
	SHOW(lseek(fd, 0, SEEK_END));
	SHOW(lseek(fd, -1, SEEK_SET));
	SHOW(lseek(fd, 0, 9));
	SHOW(read(fd, NULL, 0));
	SHOW(write(fd, NULL, 0));
	close(fd);
}

int main(void)
{
	int p[2], s[2];
	char b[64] = {0};
	sigset_t none;
	sigemptyset(&none);
	seek("epoll", MUST(epoll_create1(0)));
	seek("eventfd", MUST(eventfd(1, 0)));
	seek("timerfd", MUST(timerfd_create(CLOCK_MONOTONIC, 0)));
	seek("signalfd", MUST(signalfd(-1, &none, 0)));
	seek("pidfd", MUST(syscall(SYS_pidfd_open, getpid(), 0)));
	MUST(pipe(p));
	seek("pipe", p[0]);
	seek("pipe", p[1]);
	seek("socket", MUST(socket(AF_UNIX, SOCK_STREAM, 0)));
	seek("nothing", 77);

	MUST(pipe(p));
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	int file = MUST(open("file", O_RDWR | O_CREAT | O_TRUNC, 0600));
	MUST(write(file, "0123456789", 10));
	off_t zero = 0, minus = -1, two = 2;
	SHOW(write(s[0], "from a socket", 13));
	SHOW(sendfile(p[1], s[1], NULL, 0));
	SHOW(sendfile(p[1], s[1], NULL, 4));
	SHOW(sendfile(p[1], s[1], NULL, 100));
	SHOW(read(p[0], b, 64));
	printf("%s\n", b);
	SHOW(sendfile(p[1], s[1], &zero, 4));
	SHOW(sendfile(s[0], s[1], NULL, 4));
	SHOW(sendfile(p[1], p[0], NULL, 4));
	SHOW(sendfile(s[0], p[0], NULL, 4));
	SHOW(sendfile(p[1], file, &minus, 4));
	SHOW(sendfile(99, file, &minus, 4));
	SHOW(sendfile(99, s[0], &zero, 4));
	SHOW(sendfile(99, file, NULL, 4));
	SHOW(sendfile(p[0], file, NULL, 4));
	SHOW(sendfile(p[1], 99, NULL, 4));
	SHOW(sendfile(p[1], file, (off_t *)8, 4));
	SHOW(sendfile(p[1], file, &two, 4));
	SHOW(two);
	MUST(fcntl(p[1], F_SETFL, O_NONBLOCK));
	SHOW(fcntl(p[1], F_SETPIPE_SZ, 4096));
	SHOW(sendfile(p[1], file, &two, 4));
	close(s[0]);
	SHOW(read(p[0], b, 64));
	SHOW(sendfile(p[1], s[1], NULL, 4));
	return 0;
}
