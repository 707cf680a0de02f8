// Shorter, longer, and past all bounds.
#include "guest.h"

static void size(const char *f)
{
	struct stat st;
	MUST(stat(f, &st));
	printf("%ld bytes\n", (long)st.st_size);
}

int main(void)
{
	char b[16] = {0};
	int fd = MUST(open("f", O_RDWR | O_CREAT, 0600));
	MUST(write(fd, "0123456789", 10));
	SHOW(ftruncate(fd, 4));
	size("f");
	SHOW(ftruncate(fd, 8));
	SHOW(pread(fd, b, 16, 0));
	SURE(!memcmp(b, "0123\0\0\0\0", 8));
	SHOW(truncate("f", 2));
	size("f");
	SHOW(write(fd, "x", 1));
	size("f");
	SHOW(ftruncate(fd, -1));
	SHOW(truncate("missing", 0));
	SHOW(truncate(".", 0));
	int ro = MUST(open("f", O_RDONLY));
	SHOW(ftruncate(ro, 0));
	SHOW(ftruncate(999, 0));
	SHOW(posix_fallocate(fd, 0, 100));
	size("f");
	SHOW(fallocate(fd, FALLOC_FL_KEEP_SIZE, 100, 100));
	size("f");
	SHOW(fallocate(fd, 0, 0, 0));
	SHOW(fallocate(ro, 0, 0, 10));
	MUST(pwrite(fd, "yyyyyyyyyy", 10, 0));
	SHOW(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2, 4));
	SHOW(pread(fd, b, 10, 0));
	SURE(!memcmp(b, "yy\0\0\0\0yyyy", 10));
}
