// guest: static
// What a static program, which makes each call itself, is told of directories.
#include "guest.h"
#include <sys/sysmacros.h>

static void look(const char *name)
{
	struct stat st, sl;
	struct statx sx;
	printf("%s\n", name);
	SHOW(stat(name, &st));
	SHOW(lstat(name, &sl));
	SURE(S_ISDIR(st.st_mode));
	SURE(st.st_dev == sl.st_dev && st.st_ino == sl.st_ino);
	SHOW(statx(AT_FDCWD, name, 0, STATX_BASIC_STATS, &sx));
	SURE(sx.stx_ino == st.st_ino);
	SURE(makedev(sx.stx_dev_major, sx.stx_dev_minor) == st.st_dev);
	SHOW(access(name, R_OK | X_OK));
}

int main(void)
{
	look(".");
	look("/");
	look("/tmp");
	look("/usr");
	MUST(mkdir("d", 0700));
	look("d");
	return 0;
}
