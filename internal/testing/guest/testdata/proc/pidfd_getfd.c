// A process takes open files of another one: a file, a pipe, a socket.
// guest: root
#include "guest.h"
#include <sys/inotify.h>
#include <sys/socket.h>

int main(void)
{
	int go[2], pair[2], p[2];
	pipe(go);
	int pid = fork();
	if (pid == 0) {
		int file = open("f", O_CREAT | O_RDWR, 0600);
		pipe(p);
		socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
		write(file, "hello, file", 11);
		write(p[1], "hello, pipe", 11);
		write(pair[1], "hello, socket", 13);
		printf("child has %d %d %d\n", file, p[0], pair[0]);
		write(go[1], "x", 1);
		pause();
	}
	char b[100] = "";
	read(go[0], b, 1);
	int child = syscall(SYS_pidfd_open, pid, 0);
	int file = syscall(SYS_pidfd_getfd, child, 5, 0), rd = syscall(SYS_pidfd_getfd, child, 6, 0), sock = syscall(SYS_pidfd_getfd, child, 8, 0);
	SHOW(fcntl(file, F_GETFD));
	SHOW(lseek(file, 0, SEEK_CUR)); // shared with the child
	SHOW(pread(file, b, 99, 7));
	printf("%s\n", b);
	SHOW(read(rd, b, 99));
	printf("%.11s\n", b);
	SHOW(read(sock, b, 99));
	printf("%.13s\n", b);
	SHOW(syscall(SYS_pidfd_getfd, child, 70, 0));
	SHOW(syscall(SYS_pidfd_getfd, child, 5, 1));
	SHOW(syscall(SYS_pidfd_getfd, 0, 5, 0));
	SHOW(syscall(SYS_pidfd_getfd, -1, 5, 0));
	if (fork() == 0) {
		SHOW(setuid(65534));
		SHOW(syscall(SYS_pidfd_getfd, child, 5, 0));
		exit(0);
	}
	wait(NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	SHOW(syscall(SYS_pidfd_getfd, child, 5, 0));
	SHOW(read(rd, b, 99));

	// The watches of an inotify instance.
	int in = inotify_init();
	SHOW(inotify_add_watch(in, ".", IN_MODIFY));
	SHOW(inotify_add_watch(in, "f", IN_CREATE | IN_ONESHOT));
	snprintf(b, sizeof b, "/proc/self/fdinfo/%d", in);
	FILE *f = fopen(b, "r");
	char line[300];
	int wd;
	unsigned mask;
	while (fgets(line, sizeof line, f))
		if (sscanf(line, "inotify wd:%x ino:%*x sdev:%*x mask:%x", &wd, &mask) == 2)
			printf("watch %d %x\n", wd, mask);
	return 0;
}
