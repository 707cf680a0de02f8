// guest: root
// Root's writes and truncations leave set-id bits; a new owner takes them away.
#include "guest.h"
#include <sys/sendfile.h>

static void mode(const char *what)
{
	struct stat st;
	MUST(stat("prog", &st));
	printf("%s: %o\n", what, st.st_mode & 07777);
}

int main(void)
{
	umask(0);
	int fd = MUST(open("prog", O_RDWR | O_CREAT | O_TRUNC, 06755));
	mode("made");
	MUST(write(fd, "text", 4));
	mode("written");
	MUST(pwrite(fd, "text", 4, 8));
	mode("written at");
	MUST(ftruncate(fd, 2));
	mode("cut by descriptor");
	MUST(truncate("prog", 1));
	mode("cut by name");
	close(MUST(open("prog", O_WRONLY | O_TRUNC)));
	mode("opened and cut");
	close(MUST(creat("prog", 0600)));
	mode("made again");
	MUST(fallocate(fd, 0, 0, 8192));
	mode("grown");
	MUST(fallocate(fd, FALLOC_FL_ZERO_RANGE, 0, 100));
	mode("zeroed");
	int in = MUST(open("/etc/passwd", O_RDONLY));
	MUST(sendfile(fd, in, NULL, 10));
	mode("sent to");
	MUST(copy_file_range(in, NULL, fd, NULL, 10, 0) >= 0);
	mode("copied to");
	MUST(fchmod(fd, 02744));
	MUST(write(fd, "text", 4));
	mode("set-group-id without execution");
	MUST(chmod("prog", 04711));
	MUST(write(fd, "text", 4));
	mode("set-user-id");
	MUST(chown("prog", 0, 0));
	mode("given away");
	MUST(chmod("prog", 06777));
	MUST(truncate("prog", 0));
	mode("for all");
	pid_t pid = MUST(fork());
	if (pid == 0) {
		if (setgid(1234) < 0 || setuid(1234) < 0)
			_exit(1);
		SHOW(write(fd, "text", 4));
		mode("written by another");
		fflush(stdout);
		_exit(0);
	}
	show_wait("child", pid);
	MUST(write(fd, "text", 4));
	mode("at last");
	return 0;
}
