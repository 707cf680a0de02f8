// Executing by descriptor.
#include "guest.h"

extern char **environ;

static void run(const char *what, int dir, const char *path, int flags)
{
	char *arg[] = {"sh", "-c", "exit 8", NULL};
	pid_t child = fork();
	if (child == 0) {
		syscall(SYS_execveat, dir, path, arg, environ, flags);
		printf("%s: %s\n", what, errname(errno));
		_exit(1);
	}
	show_wait(what, child);
}

int main(void)
{
	int fd = MUST(open("/bin/sh", O_RDONLY | O_CLOEXEC)), dir = MUST(open("/bin", O_RDONLY | O_DIRECTORY));
	run("empty path", fd, "", AT_EMPTY_PATH);
	run("relative", dir, "sh", 0);
	run("absolute", -1, "/bin/sh", 0);
	run("no flag", fd, "", 0);
	run("missing", dir, "no-such-program", 0);
	run("bad descriptor", 999, "sh", 0);
	pid_t child = fork();
	if (child == 0) {
		char *arg[] = {"sh", "-c", "exit 3", NULL};
		fexecve(fd, arg, environ);
		_exit(1);
	}
	show_wait("fexecve", child);
}
