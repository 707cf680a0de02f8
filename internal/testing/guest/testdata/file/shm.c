// POSIX shared memory objects.
#include "guest.h"

int main(void)
{
	char name[64];
	sprintf(name, "/guest.%d", getpid());
	int fd = MUST(shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600));
	SHOW(shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600));
	SHOW(ftruncate(fd, 4096));
	int *a = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pid_t child = fork();
	if (child == 0) {
		int c = MUST(shm_open(name, O_RDWR, 0));
		int *b = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, c, 0);
		*b = 7;
		_exit(0);
	}
	show_wait("child", child);
	SHOW(*a);
	SHOW(shm_unlink(name));
	SHOW(shm_open(name, O_RDWR, 0));
	SHOW(shm_unlink(name));
}
