// What posix_fadvise and io_setup take; what a new file in memory looks like.
#include "guest.h"
#include <netinet/in.h>
#include <sys/socket.h>

int main(void)
{
	int fd = MUST(open("advice", O_RDWR | O_CREAT, 0600)), p[2];
	SHOWE(posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED));
	SHOWE(posix_fadvise(fd, 0, 0, 9999));
	SHOWE(posix_fadvise(fd, 0, -1, POSIX_FADV_NORMAL));
	SHOWE(posix_fadvise(fd, -5, 3, POSIX_FADV_NORMAL));
	SHOWE(posix_fadvise(-1, 0, 0, 9999));
	MUST(pipe(p));
	SHOWE(posix_fadvise(p[0], 0, 0, 9999));
	int s = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	SHOWE(posix_fadvise(s, 0, 0, POSIX_FADV_NORMAL));
	SHOWE(posix_fadvise(s, 0, 0, 9999));
	long ctx = 0;
	SHOW(syscall(SYS_io_setup, -1, &ctx));
	SHOW(syscall(SYS_io_setup, 0, &ctx));
	SHOW(syscall(SYS_io_setup, 1, NULL));
	ctx = 1;
	SHOW(syscall(SYS_io_setup, 1, &ctx));
	fd = MUST(memfd_create("new", 0));
	struct stat st;
	MUST(fstat(fd, &st));
	SHOW(st.st_size);
	SHOW(st.st_blocks);
	SHOW(st.st_mode);
	SHOW(st.st_nlink);
	SHOW(st.st_blksize);
	MUST(ftruncate(fd, 10000));
	MUST(fstat(fd, &st));
	SHOW(st.st_size);
}
