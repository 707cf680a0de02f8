// Duplicates share offset and status flags, but not close-on-exec.
#include "guest.h"
#include <linux/close_range.h>

int main(void)
{
	int fd = MUST(open("f", O_RDWR | O_CREAT, 0600)), d = MUST(dup(fd));
	char b[8];
	MUST(write(fd, "012345", 6));
	SHOW(lseek(d, 0, SEEK_CUR));
	SHOW(fcntl(d, F_SETFL, O_APPEND));
	SURE(fcntl(fd, F_GETFL) & O_APPEND);
	SHOW(fcntl(fd, F_SETFD, FD_CLOEXEC));
	SHOW(fcntl(d, F_GETFD));
	SHOW(dup2(fd, 50));
	SHOW(fcntl(50, F_GETFD));
	SHOW(dup2(fd, fd) == fd);
	SHOW(fcntl(fd, F_GETFD));
	SHOW(dup3(fd, 51, O_CLOEXEC));
	SHOW(fcntl(51, F_GETFD));
	SHOW(dup3(fd, fd, 0));
	SHOW(dup3(fd, 52, 1));
	SHOW(dup2(999, 50));
	SHOW(fcntl(50, F_GETFD));
	SHOW(dup2(fd, -1));
	SHOW(dup2(fd, 1 << 30));
	SHOW(fcntl(fd, F_DUPFD, 60));
	SHOW(fcntl(fd, F_DUPFD, 60));
	SHOW(fcntl(fd, F_DUPFD_CLOEXEC, 70));
	SHOW(fcntl(70, F_GETFD));
	close(fd);
	SHOW(lseek(d, 0, SEEK_SET));
	SHOW(read(d, b, 3));
	SURE(dup(d) == fd);
	SHOW(syscall(SYS_close_range, 50, 60, 0));
	SHOW(fcntl(50, F_GETFD));
	SHOW(fcntl(61, F_GETFD));
	SHOW(syscall(SYS_close_range, 61, 61, CLOSE_RANGE_CLOEXEC));
	SHOW(fcntl(61, F_GETFD));
	SHOW(syscall(SYS_close_range, 9, 8, 0));
	SHOW(ioctl(d, FIOCLEX));
	SHOW(fcntl(d, F_GETFD));
	SHOW(ioctl(d, FIONCLEX));
	SHOW(fcntl(d, F_GETFD));
	struct rlimit r = {80, 80};
	MUST(setrlimit(RLIMIT_NOFILE, &r));
	SHOW(dup2(d, 80));
	SHOW(fcntl(d, F_DUPFD, 80));
}
