// Shared mappings of a file: seen by read, by another process, kept after close.
#include "guest.h"

int main(void)
{
	char b[16] = {0};
	int fd = MUST(open("f", O_RDWR | O_CREAT, 0600));
	MUST(ftruncate(fd, 8192));
	char *m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), *priv = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	strcpy(m, "mapped");
	SHOW(pread(fd, b, 6, 0));
	printf("%s %s\n", b, priv);
	strcpy(priv, "own");
	printf("%s\n", m);
	MUST(pwrite(fd, "written", 7, 4096));
	printf("%s %s\n", m + 4096, priv + 4096);
	pid_t child = fork();
	if (child == 0) {
		strcpy(m, "child");
		_exit(0);
	}
	show_wait("child", child);
	printf("%s\n", m);
	close(fd);
	SHOW(msync(m, 8192, MS_SYNC));
	SHOW(msync(m, 8192, MS_ASYNC));
	SHOW(msync(m, 8192, MS_SYNC | MS_ASYNC));
	SHOW(msync(m + 1, 10, MS_SYNC));
	SHOW(munmap(m, 8192));
	SHOW(msync(m, 4096, MS_SYNC));
	fd = MUST(open("f", O_RDONLY));
	SHOW(read(fd, b, 5));
	SURE(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EACCES);
	SURE(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 100) == MAP_FAILED && errno == EINVAL);
	SURE(mmap(NULL, 0, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EINVAL);
	SURE(mmap(NULL, 4096, PROT_READ, MAP_SHARED, 999, 0) == MAP_FAILED && errno == EBADF);
}
