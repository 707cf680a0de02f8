// The working directory, also without a name; openat and its relatives.
#include "guest.h"

int main(void)
{
	char start[PATH_MAX], b[PATH_MAX];
	SURE(getcwd(start, sizeof start) == start);
	MUST(mkdir("d", 0700));
	MUST(mkdir("d/e", 0700));
	SHOW(chdir("d/e"));
	SURE(getcwd(b, sizeof b) != NULL);
	printf("%s\n", b + strlen(start));
	int fd = MUST(open("..", O_RDONLY | O_DIRECTORY));
	SHOW(fchdir(fd));
	getcwd(b, sizeof b);
	printf("%s\n", b + strlen(start));
	SURE(getcwd(b, 1) == NULL && errno == ERANGE);
	SHOW(chdir("missing"));
	SHOW(chdir("/dev/null"));
	SHOW(fchdir(999));
	SHOW(mkdirat(fd, "f", 0700));
	SURE(openat(fd, "f", O_RDONLY) >= 0);
	SHOW(faccessat(fd, "e", F_OK, 0));
	SHOW(openat(999, "f", O_RDONLY));
	SURE(openat(999, "/dev/null", O_RDONLY) >= 0);
	pid_t child = fork();
	if (child == 0) {
		MUST(chdir("/"));
		_exit(0);
	}
	show_wait("child", child);
	getcwd(b, sizeof b);
	printf("%s\n", b + strlen(start));
	MUST(mkdir("gone", 0700));
	SHOW(chdir("gone"));
	SHOW(rmdir("../gone"));
	SURE(getcwd(b, sizeof b) == NULL);
	printf("%s\n", errname(errno));
	SHOW(open("new", O_CREAT | O_WRONLY, 0600));
	SHOW(chdir(start));
}
