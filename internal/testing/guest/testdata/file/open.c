// Opening: exclusively, truncating, the wrong kind, the wrong path.
#include "guest.h"

int main(void)
{
	char b[8], longer[300];
	memset(longer, 'n', sizeof longer);
	longer[299] = 0;
	SURE(open("f", O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0);
	SHOW(open("f", O_CREAT | O_EXCL | O_WRONLY, 0600));
	int fd = MUST(open("f", O_WRONLY));
	SHOW(write(fd, "12345", 5));
	SHOW(read(fd, b, 1));
	fd = MUST(open("f", O_RDONLY));
	SHOW(write(fd, "x", 1));
	SHOW(read(fd, b, 8));
	MUST(open("f", O_WRONLY | O_TRUNC));
	SHOW(lseek(fd, 0, SEEK_END));
	SHOW(open("missing", O_RDONLY));
	SHOW(open("missing/f", O_CREAT | O_WRONLY, 0600));
	SHOW(open("f/x", O_RDONLY));
	SHOW(open(".", O_WRONLY));
	SHOW(open("f", O_RDONLY | O_DIRECTORY));
	SHOW(open("", O_RDONLY));
	SHOW(open(longer, O_RDONLY));
	SHOW(open("f/", O_RDONLY));
	MUST(symlink("f", "link"));
	MUST(symlink("nowhere", "dangling"));
	MUST(symlink("loop", "loop"));
	SHOW(open("link", O_RDONLY | O_NOFOLLOW));
	SHOW(open("link", O_CREAT | O_EXCL | O_RDWR, 0600));
	SHOW(open("dangling", O_RDONLY));
	SHOW(open("loop", O_RDONLY));
	SURE(open("dangling", O_RDWR | O_CREAT, 0600) >= 0);
	SHOW(access("nowhere", F_OK));
	SHOW(open((char *)8, O_RDONLY));
	SHOW(close(999));
	SHOW(creat("f", 0600) >= 0);
	fd = MUST(open("f", O_PATH));
	SHOW(read(fd, b, 1));
	struct stat st;
	SHOW(fstat(fd, &st));
	SHOW(openat(fd, "x", O_RDONLY));
}
