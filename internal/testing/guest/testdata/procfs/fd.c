// /proc/self/fd: which descriptors are open and what they are.
#include "proc.h"
#include <dirent.h>
#include <sys/socket.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

static void show_fd(int fd)
{
	char p[64], b[PATH_MAX] = {0};
	sprintf(p, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(p, b, sizeof b - 1);
	if (n < 0) {
		printf("%d: %s\n", fd, errname(errno));
		return;
	}
	char *cut = strchr(b, '[');
	if (cut && strncmp(b, "anon_inode", 10))
		strcpy(cut, "[...]");
	printf("%d -> %s\n", fd, b[0] == '/' && strrchr(b, '/') > b + 4 ? strrchr(b, '/') : b);
}

int main(void)
{
	int p[2];
	for (int i = 3; i < 100; i++)
		close(i);
	MUST(open("/dev/null", O_RDONLY));
	MUST(open("file", O_RDWR | O_CREAT, 0600));
	MUST(pipe(p));
	MUST(socket(AF_UNIX, SOCK_STREAM, 0));
	MUST(socket(AF_INET, SOCK_STREAM, 0));
	MUST(epoll_create1(0));
	MUST(eventfd(0, 0));
	MUST(timerfd_create(CLOCK_MONOTONIC, 0));
	for (int i = 3; i < 14; i++)
		show_fd(i);
	int list[64], n = 0;
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	while ((e = readdir(d)))
		if (*e->d_name != '.' && atoi(e->d_name) != dirfd(d) && atoi(e->d_name) > 2 && atoi(e->d_name) < 100)
			list[n++] = atoi(e->d_name);
	closedir(d);
	printf("%d listed, first %d, last %d\n", n, list[0], list[n - 1]);
	MUST(unlink("file"));
	char b[PATH_MAX] = {0};
	MUST(readlink("/proc/self/fd/4", b, sizeof b - 1));
	SURE(strstr(b, "file (deleted)") != NULL);
	int again = MUST(open("/proc/self/fd/4", O_RDWR));
	SHOW(write(again, "reopened", 8));
	SHOW(pread(4, b, 8, 0));
	int w = MUST(open("/proc/self/fd/6", O_WRONLY));
	SHOW(write(w, "pipe", 4));
	SHOW(read(5, b, 8));
	SURE(strstr(slurp("/proc/self/fdinfo/4"), "flags:\t0") != NULL);
}
