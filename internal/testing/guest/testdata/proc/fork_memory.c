// After fork each has its own memory, its own descriptors and the shared offsets.
#include "guest.h"

static int global = 1;

int main(void)
{
	int local = 2, *heap = malloc(sizeof *heap), *both = shared(4096), fd = MUST(open("file", O_RDWR | O_CREAT, 0600));
	*heap = 3;
	*both = 4;
	pid_t child = fork();
	if (child == 0) {
		global = local = *heap = *both = 9;
		MUST(write(fd, "child", 5));
		close(fd);
		_exit(0);
	}
	show_wait("child", child);
	printf("%d %d %d %d\n", global, local, *heap, *both);
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(write(fd, "parent", 6));
	char b[16] = {0};
	SHOW(pread(fd, b, 16, 0));
	printf("%s\n", b);
	SURE(getppid() != getpid());
}
