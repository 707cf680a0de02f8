// What a path of a descriptor's link in /proc/self/fd does, where the file has a name, and where
// it has none.
#include "net.h"
#include <sys/statfs.h>
#include <sys/xattr.h>

static char path[64];

static void through(const char *what, int fd)
{
	struct stat st;
	struct statfs sf;
	struct timespec times[2] = {{1000000, 5}, {2000000, 7}};
	struct timeval old[2] = {{3000000, 1}, {4000000, 2}};
	char b[64] = {0};
	int x;
	printf("-- %s\n", what);
	sprintf(path, "/proc/self/fd/%d", fd);
	SHOW(stat(path, &st));
	SHOW(chmod(path, 0640));
	SHOW(fchmodat(AT_FDCWD, path, 0641, 0));
	SHOW(chown(path, 0, 0));
	SHOW(fchownat(AT_FDCWD, path, 0, -1, 0));
	SHOW(utimensat(AT_FDCWD, path, times, 0));
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		printf("mode %o user %d group %d times %ld %ld\n", st.st_mode, st.st_uid, st.st_gid, (long)st.st_atim.tv_nsec, (long)st.st_mtim.tv_sec);
	SHOW(utimes(path, old));
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		printf("times %ld %ld\n", (long)st.st_atim.tv_sec, (long)st.st_mtim.tv_nsec);
	SHOW(truncate(path, 3));
	SHOW(truncate(path, -1));
	SHOW(fstat(fd, &st) < 0 ? -1 : S_ISREG(st.st_mode) ? (long)st.st_size : 0);
	SHOW(access(path, R_OK | W_OK));
	SHOW(statfs(path, &sf));
	if (strcmp(what, "memory")) {
		SHOW(setxattr(path, "user.guest", "value", 5, 0));
		SHOW(getxattr(path, "user.guest", b, sizeof b));
		SHOW(removexattr(path, "user.guest"));
	}
	SHOW(lsetxattr(path, "user.guest", "value", 5, 0));
	SHOW((x = open(path, O_RDONLY | O_NONBLOCK)) < 0 ? -1 : close(x));
	SHOW((x = open(path, O_WRONLY | O_NONBLOCK | O_APPEND)) < 0 ? -1 : close(x));
	SHOW((x = open(path, O_RDONLY | O_NOFOLLOW)) < 0 ? -1 : close(x));
	SHOW((x = open(path, O_RDWR | O_CREAT | O_EXCL, 0600)) < 0 ? -1 : close(x));
	SHOW((x = open(path, O_RDONLY | O_DIRECTORY)) < 0 ? -1 : close(x));
	SHOW(chdir(path) < 0 ? -1 : chdir(".."));
	SHOW(linkat(AT_FDCWD, path, AT_FDCWD, "linked", AT_SYMLINK_FOLLOW));
	SHOW(unlink("linked"));
	SHOW(readlink(path, b, sizeof b) > 0);
	SHOW(execl(path, "x", NULL));
	close(fd);
}

int main(void)
{
	int p[2], fd;
	MUST(mkdir("below", 0755));
	MUST(chdir("below"));
	fd = MUST(open("file", O_RDWR | O_CREAT, 0600));
	MUST(write(fd, "0123456789", 10));
	through("named", fd);
	through("place", MUST(open("file", O_PATH)));
	fd = MUST(open("gone", O_RDWR | O_CREAT, 0600));
	MUST(write(fd, "0123456789", 10));
	MUST(unlink("gone"));
	through("removed", fd);
	fd = MUST(open(".", O_TMPFILE | O_RDWR, 0600));
	MUST(write(fd, "0123456789", 10));
	through("never named", fd);
	fd = MUST(memfd_create("m", 0));
	MUST(write(fd, "0123456789", 10));
	through("memory", fd);
	MUST(pipe(p));
	close(p[1]);
	through("pipe", p[0]);
	MUST(mkdir("dir", 0755));
	through("directory", MUST(open("dir", O_RDONLY)));
	MUST(chdir(".."));
	MUST(chdir("below"));
	through("socket", MUST(socket(AF_UNIX, SOCK_STREAM, 0)));
	through("nothing", 77);

	// The text of a file of /proc is made anew when it is read from its beginning.
	char b[64] = {0};
	fd = MUST(open("/proc/self/comm", O_RDWR));
	SHOW(read(fd, b, 4));
	SHOW(write(fd, "another", 7));
	SHOW(pread(fd, b, sizeof b, 0));
	printf("%s", b);
	SHOW(lseek(fd, 2, SEEK_SET));
	memset(b, 0, sizeof b);
	SHOW(read(fd, b, sizeof b));
	printf("%s", b);
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(lseek(fd, -9, SEEK_CUR));
	return 0;
}
