// F_GETFL and F_SETFL: which flags are seen, which can change.
#include "guest.h"
#include <sys/mman.h>

static void flags(const char *what, int fd)
{
	int f = fcntl(fd, F_GETFL);
	printf("%s: mode %d%s%s%s%s\n", what, f & O_ACCMODE, f & O_APPEND ? " append" : "", f & O_NONBLOCK ? " nonblock" : "",
		f & O_ASYNC ? " async" : "", (f & (O_CREAT | O_EXCL | O_TRUNC)) ? " creation" : "");
}

int main(void)
{
	int p[2];
	int fd = MUST(open("f", O_RDWR | O_CREAT | O_EXCL | O_TRUNC, 0600));
	flags("file", fd);
	SHOW(fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK | O_WRONLY | O_TRUNC));
	flags("file", fd);
	SHOW(fcntl(fd, F_SETFL, 0));
	flags("file", fd);
	struct stat before, after;
	MUST(fstat(fd, &before));
	int neither = MUST(open("f", 3)); // may be used for ioctl alone
	flags("neither", neither);
	SHOW(write(neither, "x", 1));
	SHOW(read(neither, &p, 1));
	SHOW(ftruncate(neither, 9));
	SHOW(fallocate(neither, 0, 0, 9));
	SHOW(mmap(0, 1, PROT_READ, MAP_PRIVATE, neither, 0) == MAP_FAILED ? -1 : 0);
	MUST(fstat(fd, &after));
	SHOW(after.st_mtim.tv_nsec == before.st_mtim.tv_nsec && after.st_size == before.st_size);
	MUST(pipe(p));
	flags("read end", p[0]);
	flags("write end", p[1]);
	SHOW(fcntl(p[0], F_SETFL, O_NONBLOCK));
	flags("read end", p[0]);
	flags("write end", p[1]);
	SHOW(fcntl(999, F_GETFL));
	SHOW(fcntl(p[0], F_SETOWN, getpid()));
	SURE(fcntl(p[0], F_GETOWN) == getpid());
	SHOW(fcntl(p[0], F_SETSIG, SIGUSR1));
	SHOW(fcntl(p[0], F_GETSIG));
}
