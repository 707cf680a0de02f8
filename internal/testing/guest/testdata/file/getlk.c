// F_GETLK tells of the lock in the way, as its owner has set it.
#include "guest.h"

static void ask(int fd, int type, long start, long len)
{
	struct flock f = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len, .l_pid = -7};
	int r = fcntl(fd, F_GETLK, &f);
	printf("%d at %ld+%ld: %d: type %d whence %d %ld+%ld pid %s\n", type, start, len, r, f.l_type, f.l_whence,
		(long)f.l_start, (long)f.l_len, f.l_pid == getppid() ? "parent" : f.l_pid == -7 ? "as it was" : f.l_pid == -1 ? "-1" : "other");
}

static void lock(int fd, int cmd, int type, long start, long len)
{
	struct flock f = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len};
	printf("lock %d at %ld+%ld: %d\n", type, start, len, fcntl(fd, cmd, &f));
}

int main(void)
{
	int fd = MUST(open("locked", O_RDWR | O_CREAT, 0600));
	MUST(ftruncate(fd, 100));
	lock(fd, F_SETLK, F_WRLCK, 50, 10);
	lock(fd, F_SETLK, F_RDLCK, 10, 10);
	lock(fd, F_SETLK, F_RDLCK, 30, 10);
	lock(fd, F_SETLK, F_WRLCK, 5, 5);
	lock(fd, F_SETLK, F_RDLCK, 20, 5);
	lock(fd, F_SETLK, F_WRLCK, 32, 2);
	lock(fd, F_SETLK, F_UNLCK, 52, 2);
	lock(fd, F_SETLK, F_RDLCK, 90, 0);
	pid_t child = fork();
	if (child == 0) {
		ask(fd, F_WRLCK, 0, 0);
		ask(fd, F_RDLCK, 0, 0);
		ask(fd, F_WRLCK, 10, 0);
		ask(fd, F_WRLCK, 12, 1);
		ask(fd, F_RDLCK, 12, 1);
		ask(fd, F_RDLCK, 25, 100);
		ask(fd, F_WRLCK, 25, 100);
		ask(fd, F_WRLCK, 52, 2);
		ask(fd, F_WRLCK, 53, 0);
		ask(fd, F_WRLCK, 95, 0);
		ask(fd, F_WRLCK, 1000, 10);
		lock(fd, F_SETLK, F_RDLCK, 20, 5);
		int other = MUST(open("locked", O_RDWR));
		lock(other, F_OFD_SETLK, F_RDLCK, 0, 3);
		ask(fd, F_WRLCK, 0, 0);
		ask(fd, F_WRLCK, 11, 0);
		_exit(0);
	}
	show_wait("child", child);
}
