// Calls that lack something: descriptors ("lacking files") or room on the disk ("lacking room").
// It says which of them fail for that, and which for something that is found to be wrong before.
// With a second argument it sees to it itself that there is none; without, somebody else has
// to make the calls fail.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static void say(const char *what, long r)
{
	printf("%s: %s\n", what, r < 0 ? strerrorname_np(errno) : "ok");
}

static void files(int limit)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	bind(listener, (struct sockaddr *)&a, sizeof a);
	listen(listener, 5);
	int fresh = socket(AF_INET, SOCK_STREAM, 0);
	int last = dup(1), p[2];
	if (limit) {
		struct rlimit l = {last + 1, last + 1};
		setrlimit(RLIMIT_NOFILE, &l);
	}
	say("open a file", open("/etc/passwd", O_RDONLY));
	say("open what is missing", open("/no/such/file", O_RDONLY));
	say("open below a bad descriptor", openat(-7, "x", O_RDONLY));
	say("open no name", open("", O_RDONLY));
	say("open a bad address", syscall(SYS_openat, AT_FDCWD, 1, O_RDONLY));
	say("creat", creat("new", 0600));
	say("socket", socket(AF_INET, SOCK_STREAM, 0));
	say("socket of unix", socket(AF_UNIX, SOCK_DGRAM, 0));
	say("socket of no family", socket(77, SOCK_STREAM, 0));
	say("socket of a bad type", socket(AF_INET, 77, 0));
	say("accept, nobody there", accept(listener, NULL, NULL));
	say("accept, bad flags", accept4(listener, NULL, NULL, 1));
	say("accept, not listening", accept(fresh, NULL, NULL));
	say("accept, no socket", accept4(1, NULL, NULL, SOCK_CLOEXEC));
	say("accept, not open", accept(99, NULL, NULL));
	say("pipe", pipe(p));
	say("pipe2, bad flags", pipe2(p, 1));
	say("pipe to a bad address", syscall(SYS_pipe, 1));
	say("epoll_create1", epoll_create1(0));
	say("epoll_create1, bad flags", epoll_create1(1));
	say("eventfd", eventfd(0, 0));
	say("eventfd, bad flags", eventfd(0, 4));
}

// A bad address is not tried: Linux's versions differ in what they look at first.
static void room(int fill)
{
	char buf[4096] = {1};
	int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600), in = open("file", O_RDONLY), p[2];
	off_t far = 1 << 20;
	struct iovec v[2] = {{buf, 10}, {buf, 0}};
	if (fill) {
		int pad = open("pad", O_RDWR | O_CREAT, 0600);
		while (write(pad, buf, sizeof buf) > 0)
			;
	}
	lseek(fd, far, SEEK_SET);
	say("write", write(fd, buf, 10));
	printf("the position has not changed: %d\n", lseek(fd, 0, SEEK_CUR) == far);
	say("write nothing", write(fd, buf, 0));
	say("write what is for reading", write(in, buf, 10));
	say("write what is not open", write(99, buf, 10));
	say("pwrite", pwrite(fd, buf, 10, 2 * far));
	say("pwrite before the beginning", pwrite(fd, buf, 10, -1));
	say("writev", writev(fd, v, 2));
	say("writev nothing", writev(fd, v + 1, 1));
	say("writev from no list", writev(fd, (void *)1, 1));
	say("writev of too many", writev(fd, v, 2000));
	say("pwritev", pwritev(fd, v, 1, 3 * far));
	say("pwritev2 where it stands", pwritev2(fd, v, 1, -1, 0));
	say("pwritev2, bad flags", pwritev2(fd, v, 1, -1, 1 << 20));
	say("fallocate", fallocate(fd, 0, 0, 4 * far));
	say("fallocate nothing", fallocate(fd, 0, 0, 0));
	say("fallocate what is for reading", fallocate(in, 0, 0, far));
	say("pipe", pipe(p));
	say("write to a pipe", write(p[1], buf, 10));
	struct rlimit most = {far, far};
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &most);
	say("fallocate beyond the limit", fallocate(fd, 0, 0, 4 * far));
	printf("the size of the file: %ld\n", (long)lseek(fd, 0, SEEK_END));
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(argv[1], "files"))
		files(argc > 2);
	else
		room(argc > 2);
	return 0;
}
