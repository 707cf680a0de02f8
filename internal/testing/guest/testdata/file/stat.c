// What stat and its relatives tell.
#include "guest.h"
#include <sys/sysmacros.h>
#include <sys/statfs.h>

int main(void)
{
	struct stat st, su;
	struct statx sx;
	umask(022);
	int fd = MUST(open("f", O_RDWR | O_CREAT, 0666));
	MUST(write(fd, "12345", 5));
	SHOW(fstat(fd, &st));
	printf("mode %o, size %ld, links %ld\n", st.st_mode, (long)st.st_size, (long)st.st_nlink);
	SURE(st.st_uid == geteuid());
	SURE(st.st_mtim.tv_sec > 1000000000);
	SURE(st.st_mtim.tv_sec == st.st_ctim.tv_sec);
	MUST(stat("f", &su));
	SURE(st.st_ino == su.st_ino && st.st_dev == su.st_dev && st.st_ino != 0);
	SHOW(statx(AT_FDCWD, "f", 0, STATX_ALL, &sx));
	SURE(sx.stx_size == 5 && sx.stx_ino == st.st_ino && (sx.stx_mask & STATX_BASIC_STATS) == STATX_BASIC_STATS);
	SURE(makedev(sx.stx_dev_major, sx.stx_dev_minor) == st.st_dev);
	SHOW(fstatat(AT_FDCWD, "f", &su, 0));
	SHOW(fstatat(fd, "", &su, AT_EMPTY_PATH));
	SHOW(fstatat(fd, "", &su, 0));
	SHOW(stat("/dev/null", &st));
	SURE(S_ISCHR(st.st_mode) && major(st.st_rdev) == 1 && minor(st.st_rdev) == 3);
	SHOW(stat("missing", &st));
	SHOW(stat("f/x", &st));
	SHOW(fstat(999, &st));
	SHOW(stat(".", &st));
	printf("%d\n", S_ISDIR(st.st_mode));
	struct statfs fs;
	SHOW(statfs(".", &fs));
	SURE(fs.f_bsize > 0 && fs.f_bfree <= fs.f_blocks);
	SHOW(fstatfs(fd, &fs));
}
