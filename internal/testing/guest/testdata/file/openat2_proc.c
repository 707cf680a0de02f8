// openat2 does not leave a file system or follow links of /proc when it must not.
#include "guest.h"
#include <linux/openat2.h>

static int at(int dir, const char *path, uint64_t resolve)
{
	struct open_how how = {.flags = O_RDONLY, .resolve = resolve};
	int fd = syscall(SYS_openat2, dir, path, &how, sizeof how);
	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

int main(void)
{
	close(open("f", O_CREAT | O_RDWR, 0600));
	int proc = open("/proc/self", O_RDONLY);
	SHOW(at(AT_FDCWD, "/proc/version", 0));
	SHOW(at(AT_FDCWD, "/proc/version", RESOLVE_NO_XDEV));
	SHOW(at(AT_FDCWD, "/proc/self/status", RESOLVE_NO_XDEV));
	SHOW(at(proc, "status", RESOLVE_NO_XDEV));
	SHOW(at(proc, "status", RESOLVE_BENEATH));
	SHOW(at(AT_FDCWD, "f", RESOLVE_NO_XDEV));
	SHOW(at(AT_FDCWD, "./f", RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS));
	SHOW(at(AT_FDCWD, "/proc/self/exe", 0));
	SHOW(at(AT_FDCWD, "/proc/self/exe", RESOLVE_NO_MAGICLINKS));
	SHOW(at(AT_FDCWD, "/proc/self/exe", RESOLVE_NO_SYMLINKS));
	SHOW(at(AT_FDCWD, "/proc/self/status", RESOLVE_NO_MAGICLINKS));
	SHOW(at(proc, "exe", RESOLVE_NO_MAGICLINKS));
	SHOW(at(AT_FDCWD, "/proc/version", RESOLVE_BENEATH));
	return 0;
}
