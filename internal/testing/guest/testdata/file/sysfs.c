// The kinds of file systems by number and name, and the room on a device: calls from before statfs.
#include "guest.h"
#include <sys/sysmacros.h>
#include <sys/vfs.h>

struct ustat {
	int free;
	unsigned long inodes;
	char name[6], pack[6];
};

int main(void)
{
	char name[64] = "";
	static const char *kinds[] = {"proc", "ext4", "tmpfs", "sysfs"};
	for (int i = 0; i < 4; i++) {
		long n = syscall(SYS_sysfs, 1, kinds[i]);
		SURE(n >= 0);
		MUST(syscall(SYS_sysfs, 2, n, name));
		SURE(!strcmp(name, kinds[i]));
	}
	SURE(syscall(SYS_sysfs, 3) > 4);
	SHOW(syscall(SYS_sysfs, 1, "ext0"));
	SHOW(syscall(SYS_sysfs, 1, NULL));
	SHOW(syscall(SYS_sysfs, 2, 1000, name));
	SHOW(syscall(SYS_sysfs, 2, 0, NULL));
	SHOW(syscall(SYS_sysfs, 4));
	struct stat st;
	struct statfs fs;
	struct ustat u;
	MUST(stat("/", &st));
	MUST(statfs("/", &fs));
	memset(&u, 0x55, sizeof u);
	SHOW(syscall(SYS_ustat, (unsigned)makedev(major(st.st_dev), minor(st.st_dev)), &u));
	SURE(u.inodes > 0 && u.free != 0x55555555);
	printf("%d %d\n", u.name[0], u.pack[0]);
	SHOW(syscall(SYS_ustat, -1, &u));
	SHOW(syscall(SYS_ustat, (unsigned)st.st_dev, (void *)-1));
	return 0;
}
