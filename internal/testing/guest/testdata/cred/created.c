// guest: root
// Who owns what is created, and that it is protected accordingly.
#include "cred.h"

static void peek(void)
{
	TRY("box/private", O_RDONLY);
	TRY("box/private", O_WRONLY);
	TRY("box/shared", O_RDONLY);
	TRY("box/dir/in", O_RDONLY);
	SHOW(unlink("box/private"));
	SHOW(chmod("box/shared", 0666));
	SHOW(unlink("box/dir/in"));
}

static void make(void)
{
	TRY("box/private", O_CREAT | O_WRONLY);
	MUST(chmod("box/private", 0600));
	TRY("box/shared", O_CREAT | O_WRONLY);
	MUST(chmod("box/shared", 0640));
	MUST(mkdir("box/dir", 0700));
	TRY("box/dir/in", O_CREAT | O_WRONLY);
	MUST(symlink("in", "box/link"));
	MUST(mkfifo("box/fifo", 0644));
	see("box/private");
	see("box/dir");
	see("box/link");
	see("box/fifo");
	SHOW(chown("box/private", 1002, -1));
	SHOW(chown("box/private", -1, 2002));
	see("box/private");
	TRY("handed/file", O_CREAT | O_WRONLY);
	MUST(mkdir("handed/dir", 0755));
	MUST(mkdir("handed/dir/below", 0755));
	TRY("handed/bit", O_CREAT | O_WRONLY);
	SHOW(chmod("handed/bit", 02755));
	int fd = MUST(open("handed/born", O_CREAT | O_WRONLY, 02755));
	close(fd);
	see("handed/file");
	see("handed/dir");
	see("handed/dir/below");
	see("handed/bit");
	see("handed/born");
	close(MUST(open("box/closed", O_CREAT | O_WRONLY, 0)));
	TRY("box/closed", O_RDONLY);
	MUST(mkdir("box/shut", 0));
	TRY("box/shut", O_RDONLY);
	SHOW(rmdir("box/shut"));
}

int main(void)
{
	umask(0);
	MUST(chmod(".", 0755));
	putdir("box", 01777, 0, 0);
	putdir("handed", 02777, 0, 3003);
	AS(1001, 1001, 2002) make();
	AS(1002, 1002, 2002) peek();
	AS(1003, 1003, 1001) peek();
	see("box/private");
	TRY("box/private", O_RDWR);
	TRY("box/closed", O_RDWR);
	MUST(chown("box/private", 1002, 1002));
	AS(1002, 1002, 1002) peek();
	AS(1001, 1001, 1001) TRY("box/shared", O_RDWR);
	put("given", 06755, 1001, 1001);
	see("given");
	AS(1001, 1001, 2002) {
		SHOW(chown("given", -1, 2002));
		see("given");
		SHOW(chmod("given", 06755));
		int fd = MUST(open("given", O_WRONLY));
		MUST(write(fd, "x", 1));
		see("given");
		SHOW(chmod("given", 06745));
		MUST(write(fd, "x", 1));
		see("given");
		SHOW(fchmod(fd, 04755));
		MUST(ftruncate(fd, 0));
		see("given");
		SHOW(fchmod(fd, 04755));
		MUST(truncate("given", 1));
		see("given");
	}
}
