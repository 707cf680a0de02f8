// Hard links, and files that live without a name.
#include "guest.h"

int main(void)
{
	char b[16] = {0};
	struct stat st;
	int fd = MUST(open("a", O_RDWR | O_CREAT, 0600));
	SHOW(link("a", "b"));
	MUST(stat("b", &st));
	SHOW(st.st_nlink);
	SHOW(link("a", "b"));
	SHOW(link("missing", "c"));
	MUST(mkdir("d", 0700));
	SHOW(link("d", "e"));
	SHOW(unlink("a"));
	SHOW(unlink("a"));
	MUST(fstat(fd, &st));
	SHOW(st.st_nlink);
	SHOW(unlink("b"));
	MUST(fstat(fd, &st));
	SHOW(st.st_nlink);
	SHOW(write(fd, "alive", 5));
	SHOW(pread(fd, b, 16, 0));
	SHOW(unlink("d"));
	SHOW(rmdir("d"));
	SHOW(rmdir("d"));
	MUST(mkdir("d", 0700));
	close(MUST(open("d/f", O_CREAT | O_WRONLY, 0600)));
	SHOW(rmdir("d"));
	SHOW(mkdir("d", 0700));
	SHOW(mkdir("x/y", 0700));
	SHOW(rmdir("d/f"));
	SHOW(unlink("d/f"));
	SHOW(rmdir("d/."));
	SHOW(rmdir("d"));
	SHOW(unlinkat(AT_FDCWD, "nothing", AT_REMOVEDIR));
	int t = open(".", O_TMPFILE | O_RDWR, 0600);
	SURE(t >= 0);
	if (t >= 0) {
		SHOW(write(t, "tmp", 3));
		char path[64];
		sprintf(path, "/proc/self/fd/%d", t);
		SHOW(linkat(AT_FDCWD, path, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
		SHOW(access("named", R_OK));
	}
}
