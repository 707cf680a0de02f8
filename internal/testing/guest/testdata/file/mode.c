// umask, chmod and what they forbid.
#include "guest.h"

static void mode(const char *f)
{
	struct stat st;
	MUST(lstat(f, &st));
	printf("%s: %o\n", f, st.st_mode & 07777);
}

int main(void)
{
	SURE(umask(027) >= 0);
	printf("%o\n", umask(027));
	int fd = MUST(open("f", O_CREAT | O_RDWR, 0666));
	mode("f");
	MUST(mkdir("d", 0777));
	mode("d");
	SHOW(chmod("f", 04751));
	mode("f");
	SHOW(fchmod(fd, 0600));
	mode("f");
	SHOW(fchmodat(AT_FDCWD, "d", 01777, 0));
	mode("d");
	SHOW(chmod("missing", 0));
	SHOW(access("f", R_OK | W_OK));
	SHOW(access("f", X_OK));
	SHOW(access("f", 99));
	SHOW(mknod("n", S_IFREG | 0666, 0));
	mode("n");
	pid_t child = fork();
	if (child == 0) {
		umask(0);
		_exit(0);
	}
	show_wait("child", child);
	printf("%o\n", umask(0));
	SHOW(chown("f", -1, -1));
	SHOW(fchown(fd, getuid(), getgid()));
	SHOW(lchown("missing", 0, 0));
	SHOW(fchownat(AT_FDCWD, "f", 12345, 12345, 1));
	struct stat st;
	MUST(stat("f", &st));
	SHOW(st.st_uid == getuid());
}
