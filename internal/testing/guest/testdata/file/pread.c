// Positioned and vectored reading and writing; seeking and holes.
#include "guest.h"

int main(void)
{
	char b[16] = {0}, c[16] = {0};
	int fd = MUST(open("f", O_RDWR | O_CREAT, 0600));
	struct iovec out[] = {{"abc", 3}, {"defg", 4}}, in[] = {{b, 4}, {c, 16}};
	SHOW(pwrite(fd, "xyz", 3, 100));
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(lseek(fd, 0, SEEK_END));
	SHOW(pread(fd, b, 16, 50));
	SURE(b[0] == 0 && b[15] == 0);
	SHOW(pread(fd, b, 16, 103));
	SHOW(pread(fd, b, 16, -1));
	SHOW(lseek(fd, 0, SEEK_SET));
	SHOW(writev(fd, out, 2));
	SHOW(pwritev(fd, out, 2, 5));
	SHOW(preadv(fd, in, 2, 0));
	printf("%.4s %.8s\n", b, c);
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(lseek(fd, -1, SEEK_SET));
	SHOW(lseek(fd, -1000, SEEK_CUR));
	SHOW(lseek(fd, 0, 99));
	SHOW(lseek(fd, 5000, SEEK_SET));
	SHOW(read(fd, b, 1));
	SHOW(write(fd, "e", 1));
	struct stat st;
	MUST(fstat(fd, &st));
	SHOW(st.st_size);
	SHOW(preadv2(fd, in, 2, 0, 0));
	SHOW(pwritev2(fd, out, 1, 0, RWF_DSYNC));
	SHOW(readv(fd, in, -1));
	SHOW(writev(fd, out, 2000));
	SHOW(lseek(fd, 0, SEEK_SET));
	SHOW(read(fd, (void *)8, 1));
	SHOW(write(fd, (void *)8, 1));
}
