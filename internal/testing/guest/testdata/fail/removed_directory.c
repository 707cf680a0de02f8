// In a directory that was removed nothing can be made, and there is no way up by its name.
#include "guest.h"

int main(void)
{
	char b[300];
	MUST(mkdir("d", 0700));
	int d = MUST(open("d", O_RDONLY | O_DIRECTORY));
	MUST(chdir("d"));
	MUST(rmdir("../d"));
	SHOW(open("f", O_CREAT | O_RDWR, 0600));
	SHOW(mkdir("e", 0700));
	SHOW(symlink("x", "y"));
	SHOW(open(".", O_RDONLY) < 0 ? -1 : 0);
	SHOW(open("..", O_RDONLY) < 0 ? -1 : 0);
	SURE(getcwd(b, sizeof b) == NULL);
	printf("%s\n", errname(errno));
	SHOW(openat(d, "f", O_CREAT | O_RDWR, 0600));
	SHOW(rmdir("."));
	SHOW(access("nothing", F_OK));
	struct stat s;
	SHOW(fstat(d, &s));
	printf("links %ld\n", (long)s.st_nlink);
	SHOW(fsync(d));
	SHOW(fchdir(d));
	SHOW(chdir("/"));
}
