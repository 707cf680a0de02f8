// Files in memory, and seals.
#include "guest.h"

int main(void)
{
	char b[16] = {0};
	int fd = MUST(memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	SHOW(fcntl(fd, F_GETFD));
	SHOW(write(fd, "hello", 5));
	char *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	printf("%s\n", m);
	pid_t child = fork();
	if (child == 0) {
		strcpy(m, "from child");
		_exit(0);
	}
	show_wait("child", child);
	SHOW(ftruncate(fd, 10));
	SHOW(pread(fd, b, 16, 0));
	printf("%s\n", b);
	SHOW(fcntl(fd, F_GET_SEALS));
	SHOW(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE));
	munmap(m, 4096);
	SHOW(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK));
	SHOW(write(fd, "x", 1));
	SHOW(ftruncate(fd, 5));
	SHOW(ftruncate(fd, 20));
	SHOW(fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL));
	SHOW(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW));
	fd = MUST(memfd_create("plain", 0));
	// A program that compiles at run time writes here and executes there.
	SHOW(ftruncate(fd, 4096));
	SHOW(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0) != MAP_FAILED);
	SHOW(ftruncate(fd, 0));
	SHOW(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE));
	SHOW(memfd_create("bad", 0x1000));
	struct stat st;
	SHOW(fstat(fd, &st));
	SHOW(st.st_size);
}
