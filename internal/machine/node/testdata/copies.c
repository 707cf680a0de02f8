// Ways to read files, and to write to them from others. A line each says how it went; what is at
// the end of a file, or nothing, asks nobody.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static void say(const char *what, long r)
{
	if (r < 0)
		printf("%s: %s\n", what, strerrorname_np(errno));
	else
		printf("%s: %ld\n", what, r);
}

int main(void)
{
	char b[100] = "text";
	int in = open("in", O_RDWR | O_CREAT | O_TRUNC, 0600), out = open("out", O_RDWR | O_CREAT | O_TRUNC, 0600), p[2];
	struct iovec v = {b, sizeof b};
	off_t from = 0;
	aio_context_t ctx = 0;
	struct iocb write = {.aio_fildes = out, .aio_lio_opcode = IOCB_CMD_PWRITE, .aio_buf = (unsigned long)b, .aio_nbytes = 30}, *list[] = {&write};
	struct io_event done;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (ftruncate(in, 300) || pipe(p) || syscall(SYS_io_setup, 4, &ctx))
		return 1;
	say("read", read(in, b, sizeof b));
	say("readv", readv(in, &v, 1));
	say("pread64", pread(in, b, sizeof b, 250));
	say("read nothing", read(in, b, 0));
	say("pread64 at the end", pread(in, b, sizeof b, 300));
	say("copy_file_range", copy_file_range(in, &from, out, NULL, 50, 0));
	say("sendfile", sendfile(out, in, &from, 20));
	if (syscall(SYS_write, p[1], b, 10) != 10)
		return 1;
	say("splice", splice(p[0], NULL, out, NULL, 10, 0));
	if (syscall(SYS_io_submit, ctx, 1, list) != 1 || syscall(SYS_io_getevents, ctx, 1, 1, &done, NULL) != 1)
		return 1;
	if (done.res < 0)
		errno = -done.res;
	say("io_submit", done.res < 0 ? -1 : done.res);
	say("the end of the file", lseek(out, 0, SEEK_END) >= 0);
	return 0;
}
