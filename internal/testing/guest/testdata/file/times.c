// File times: set, kept, changed by writing.
#include "guest.h"

static long mtime(const char *f)
{
	struct stat st;
	MUST(stat(f, &st));
	return st.st_mtim.tv_sec * 1000000000L + st.st_mtim.tv_nsec;
}

int main(void)
{
	struct timespec t[2] = {{1000, 5}, {2000, 7}}, omit[2] = {{0, UTIME_OMIT}, {3000, 0}}, now[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}}, bad[2] = {{0, -5}, {0, 0}};
	struct stat st;
	int fd = MUST(open("f", O_RDWR | O_CREAT, 0600));
	SHOW(futimens(fd, t));
	MUST(stat("f", &st));
	printf("%ld.%ld %ld.%ld\n", (long)st.st_atim.tv_sec, st.st_atim.tv_nsec, (long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	SHOW(utimensat(AT_FDCWD, "f", omit, 0));
	MUST(stat("f", &st));
	printf("%ld %ld\n", (long)st.st_atim.tv_sec, (long)st.st_mtim.tv_sec);
	SHOW(utimensat(AT_FDCWD, "f", bad, 0));
	SHOW(utimensat(AT_FDCWD, "none", t, 0));
	SHOW(utimensat(1000, "f", t, 0)); // no descriptor
	MUST(write(fd, "x", 1));
	SURE(mtime("f") > 1000000000L * 1000000000L);
	long a = mtime("f");
	nap(30);
	MUST(write(fd, "y", 1));
	SURE(mtime("f") > a);
	struct timespec n;
	clock_gettime(CLOCK_REALTIME, &n);
	SURE(n.tv_sec - mtime("f") / 1000000000 <= 1);
	SHOW(utimensat(AT_FDCWD, "f", now, 0));
	SURE(mtime("f") >= a);
	MUST(mkdir("d", 0700));
	struct timeval tv[2] = {{5, 0}, {6, 0}};
	SHOW(utimes("d", tv));
	SURE(mtime("d") == 6000000000L);
	close(MUST(open("d/f", O_CREAT | O_WRONLY, 0600)));
	SURE(mtime("d") > 6000000000L);
}
