// Symbolic links: read, followed, not followed.
#include "guest.h"

int main(void)
{
	char b[64] = {0};
	struct stat st;
	SHOW(symlink("target", "l"));
	SHOW(symlink("target", "l"));
	SHOW(readlink("l", b, sizeof b));
	printf("%s\n", b);
	SHOW(readlink("l", b, 3));
	SHOW(readlink(".", b, sizeof b));
	SHOW(readlink("none", b, sizeof b));
	SHOW(readlink("l", b, 0));
	SHOW(lstat("l", &st));
	SURE(S_ISLNK(st.st_mode) && st.st_size == 6);
	SHOW(stat("l", &st));
	close(MUST(open("l", O_CREAT | O_WRONLY, 0600)));
	SHOW(stat("target", &st));
	MUST(mkdir("d", 0700));
	MUST(symlink("../target", "d/up"));
	SHOW(stat("d/up", &st));
	MUST(symlink("d", "dl"));
	SHOW(stat("dl/up", &st));
	SHOW(unlink("l"));
	SHOW(access("target", F_OK));
	SHOW(symlink("", "empty"));
	char *r = realpath("dl/up", NULL);
	printf("%s\n", r ? strrchr(r, '/') : errname(errno));
	int fd = MUST(open("dl", O_PATH | O_NOFOLLOW));
	SHOW(readlinkat(fd, "", b, sizeof b));
	SHOW(faccessat(AT_FDCWD, "dl/none", F_OK, 0));
}
