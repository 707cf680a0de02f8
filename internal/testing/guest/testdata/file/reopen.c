// What is opened again by /proc/self/fd is another open file: its offset and its mode are
// its own.
#include "guest.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

static int again(int fd, int flags)
{
	char name[40];
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	int r = open(name, flags);
	if (r < 0)
		printf("open with %#x: %s\n", flags, errname(errno));
	return r;
}

static void file(const char *what, int fd)
{
	char b[32] = {0};
	printf("%s\n", what);
	MUST(write(fd, "0123456789", 10));
	int r = again(fd, O_RDONLY), w = again(fd, O_WRONLY | O_APPEND), c = again(fd, O_RDWR | O_CLOEXEC);
	SHOW(lseek(r, 0, SEEK_CUR));
	SHOW(read(r, b, 4));
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(write(r, "x", 1));
	SHOW(read(w, b, 1));
	SHOW(write(w, "more", 4));
	SHOW(lseek(w, 0, SEEK_CUR));
	SHOW(fcntl(r, F_GETFL) & O_ACCMODE);
	SHOW(fcntl(w, F_GETFL) & (O_ACCMODE | O_APPEND));
	SHOW(fcntl(c, F_GETFD));
	SHOW(read(c, b, 20));
	printf("%s\n", b);
	SHOW(fcntl(r, F_SETFL, O_APPEND));
	SHOW(fcntl(fd, F_GETFL) & O_APPEND);
	struct stat x, y;
	MUST(fstat(fd, &x));
	MUST(fstat(r, &y));
	SHOW(x.st_ino == y.st_ino && x.st_dev == y.st_dev);
	int t = again(fd, O_RDWR | O_TRUNC);
	MUST(fstat(fd, &x));
	SHOW(x.st_size);
	again(fd, O_RDONLY | O_DIRECTORY);
	again(fd, O_RDONLY | O_CREAT | O_EXCL);
	close(r), close(w), close(c), close(t), close(fd);
}

int main(void)
{
	file("memfd", MUST(memfd_create("m", 0)));
	file("nameless", MUST(open(".", O_TMPFILE | O_RDWR, 0600)));
	int fd = MUST(open("file", O_RDWR | O_CREAT, 0600));
	MUST(unlink("file"));
	file("unlinked", fd);
	file("named", MUST(open("file", O_RDWR | O_CREAT, 0600)));

	int p[2], s[2];
	char b[8];
	MUST(pipe(p));
	int w = again(p[0], O_WRONLY), r = again(p[1], O_RDONLY | O_NONBLOCK), rw = again(p[0], O_RDWR | O_NONBLOCK);
	SHOW(read(r, b, 8));
	SHOW(write(w, "one", 3));
	SHOW(write(p[0], "x", 1));
	SHOW(read(r, b, 2));
	SHOW(write(rw, "two", 3));
	SHOW(read(p[0], b, 8));
	close(p[1]), close(w);
	SHOW(read(r, b, 8));
	close(rw);
	SHOW(read(r, b, 8));
	w = again(r, O_WRONLY);
	SHOW(write(w, "three", 5));
	close(r), close(p[0]);
	signal(SIGPIPE, SIG_IGN);
	SHOW(write(w, "x", 1));
	again(w, O_RDONLY | O_NONBLOCK);

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	again(s[0], O_RDWR);
	again(MUST(eventfd(0, 0)), O_RDWR);
	again(MUST(epoll_create1(0)), O_RDONLY);
	return 0;
}
