// /proc/self: exe, cwd, root, cmdline, comm, environ.
// guest: args first second
#include "proc.h"

static void link_of(const char *path, int base)
{
	char b[PATH_MAX] = {0};
	ssize_t n = readlink(path, b, sizeof b - 1);
	char *s = base ? strrchr(b, '/') + 1 : b;
	printf("%s -> %s\n", path, n < 0 ? errname(errno) : s);
}

int main(int argc, char **argv)
{
	char *s, b[PATH_MAX];
	link_of("/proc/self/exe", 1);
	SURE(strstr(argv[0], "procfs_self") != NULL);
	link_of("/proc/self/root", 0);
	ssize_t n = readlink("/proc/self/cwd", b, sizeof b - 1);
	b[n] = 0;
	char cwd[PATH_MAX];
	SURE(!strcmp(b, getcwd(cwd, sizeof cwd)));
	s = slurp("/proc/self/cmdline");
	SURE(!strcmp(s, argv[0]));
	printf("%s %s\n", s + strlen(s) + 1, s + strlen(s) + 1 + strlen(s + strlen(s) + 1) + 1);
	printf("comm %s", slurp("/proc/self/comm"));
	SURE(strstr(slurp("/proc/self/environ"), "=") != NULL);
	n = readlink("/proc/self", b, sizeof b - 1);
	b[n] = 0;
	SURE(atoi(b) == getpid());
	link_of("/proc/self/fd/999", 0);
	int fd = MUST(open("/proc/self/exe", O_RDONLY));
	char magic[4];
	SHOW(read(fd, magic, 4));
	SURE(!memcmp(magic, "\177ELF", 4));
	sprintf(b, "/proc/%d/comm", getpid());
	printf("%s", slurp(b));
	slurp("/proc/999999/comm");
}
