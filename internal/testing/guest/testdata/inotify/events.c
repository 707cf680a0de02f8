// What each call tells who watches a file and its directory, and in which order.
#include "guest.h"
#include <sys/inotify.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/un.h>

static int ino;

static void drain(const char *what)
{
	static const char *names[] = {"ACCESS", "MODIFY", "ATTRIB", "CLOSE_WRITE", "CLOSE_NOWRITE", "OPEN",
		"MOVED_FROM", "MOVED_TO", "CREATE", "DELETE", "DELETE_SELF", "MOVE_SELF"};
	char b[8192] __attribute__((aligned(8)));
	int n, queued = -1;
	uint32_t cookie = 0;
	ioctl(ino, FIONREAD, &queued);
	printf("%s (%d bytes):\n", what, queued);
	while ((n = read(ino, b, sizeof b)) > 0)
		for (char *p = b; p < b + n;) {
			struct inotify_event *e = (void *)p;
			printf("  %d", e->wd);
			for (int i = 0; i < 12; i++)
				if (e->mask & 1u << i)
					printf(" %s", names[i]);
			printf("%s%s%s", e->mask & IN_ISDIR ? " ISDIR" : "", e->mask & IN_IGNORED ? " IGNORED" : "",
			       e->mask & IN_Q_OVERFLOW ? " Q_OVERFLOW" : "");
			if (e->cookie)
				printf(" %s", e->cookie == cookie ? "the same cookie" : "a cookie");
			cookie = e->cookie;
			printf(" %s len %u\n", e->len ? e->name : "-", e->len);
			p += sizeof *e + e->len;
		}
	if (n == 0 || errno != EAGAIN)
		printf("read: %d %s\n", n, strerrorname_np(errno));
}

#define DO(call) do { SHOW(call); drain(#call); } while (0)

int main(void)
{
	char b[64];
	struct timespec times[2] = {{5, 5}, {6, 6}}, access_only[2] = {{5, 5}, {0, UTIME_OMIT}}, modify_only[2] = {{0, UTIME_OMIT}, {5, 5}};
	struct sockaddr_un sa = {AF_UNIX, "d/sock"};
	struct iovec v = {b, 3};
	MUST(mkdir("d", 0755));
	MUST(mkdir("e", 0755));
	ino = MUST(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
	SHOW(inotify_add_watch(ino, "d", IN_ALL_EVENTS));
	int fd;
	DO((fd = open("d/file", O_CREAT | O_RDWR, 0644)) < 0);
	SHOW(inotify_add_watch(ino, "d/file", IN_ALL_EVENTS));
	DO(write(fd, "abcdef", 6));
	DO(write(fd, "", 0));
	DO(pwrite(fd, "abcdef", 6, 10));
	DO(writev(fd, &v, 1));
	DO(write(fd, (void *)1, 6));
	DO(pread(fd, b, 4, 0));
	DO(pread(fd, b, 4, 1000));
	DO(lseek(fd, 0, SEEK_SET));
	DO(read(fd, b, 4));
	DO(readv(fd, &v, 1));
	DO(read(fd, (void *)1, 4));
	DO(ftruncate(fd, 100));
	DO(truncate("d/file", 90));
	DO(fallocate(fd, 0, 0, 200));
	DO(fsync(fd));
	DO(fchmod(fd, 0600));
	DO(chmod("d/file", 0644));
	DO(chmod("d", 0750));
	DO(fchown(fd, getuid(), -1));
	DO(chown("d/file", -1, -1));
	DO(utimensat(AT_FDCWD, "d/file", times, 0));
	DO(utimensat(AT_FDCWD, "d/file", access_only, 0));
	DO(futimens(fd, modify_only));
	DO(link("d/file", "e/other"));
	DO(rename("d/file", "d/new"));
	DO(write(fd, "x", 1));
	DO(rename("d/new", "e/out"));
	DO(write(fd, "x", 1));
	DO(rename("e/out", "d/back"));
	DO(unlink("e/other"));
	int two;
	DO((two = open("d/back", O_RDONLY)) < 0);
	DO(close(fd));
	DO((fd = open("d/back", O_WRONLY | O_TRUNC)) < 0);
	DO(unlink("d/back"));
	DO(write(fd, "x", 1));
	DO(close(two));
	DO(close(fd));
	DO(mkdir("d/sub", 0755));
	SHOW(inotify_add_watch(ino, "d/sub", IN_ALL_EVENTS));
	DIR *dir;
	DO((dir = opendir("d/sub")) == NULL);
	DO(readdir(dir) == NULL);
	while (readdir(dir))
		;
	drain("to its end");
	DO(closedir(dir));
	DO(rename("d/sub", "d/sub2"));
	DO(symlink("nowhere", "d/sub2/link"));
	DO(readlink("d/sub2/link", b, sizeof b) > 0);
	DO(unlink("d/sub2/link"));
	DO(mkfifo("d/fifo", 0600));
	DO(unlink("d/fifo"));
	int s = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
	DO(bind(s, (void *)&sa, sizeof sa));
	DO(unlink("d/sock"));
	DO(rmdir("d/sub2"));
	MUST(close(MUST(open("d/a", O_CREAT | O_WRONLY, 0644))));
	MUST(close(MUST(open("d/b", O_CREAT | O_WRONLY, 0644))));
	drain("two files");
	SHOW(inotify_add_watch(ino, "d/b", IN_ALL_EVENTS));
	DO(syscall(SYS_renameat2, AT_FDCWD, "d/a", AT_FDCWD, "d/b", 2));
	DO(rename("d/a", "d/b"));
	MUST(symlink("../e/far", "d/to"));
	drain("a link");
	DO((fd = open("d/to", O_CREAT | O_WRONLY, 0644)) < 0);
	DO(dup2(fd, 40) != 40);
	DO(close(fd));
	DO(close(40));
	DO((fd = open("d/b", O_PATH)) < 0);
	DO(close(fd));
	fd = MUST(open("d/b", O_RDWR));
	MUST(write(fd, "content", 7));
	two = MUST(open("d/c", O_CREAT | O_RDWR, 0644));
	drain("for copies");
	int p[2];
	off_t at = 0;
	MUST(pipe(p));
	DO(sendfile(p[1], fd, &at, 3));
	DO(splice(p[0], NULL, two, NULL, 3, 0));
	loff_t from = 0;
	DO(copy_file_range(fd, &from, two, NULL, 3, 0));
	DO(sendfile(two, fd, &at, 2));
	if (fork() == 0) {
		close(fd);
		_exit(0);
	}
	wait(NULL);
	drain("a child's end");
	SHOW(inotify_rm_watch(ino, 1));
	drain("removed");
	SHOW(inotify_rm_watch(ino, 1));
	DO(close(fd));
	DO(close(two));
	return 0;
}
