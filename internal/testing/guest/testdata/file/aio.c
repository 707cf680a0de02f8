// Kernel AIO: submitted writes and reads, completion by eventfd and io_getevents.
#include "guest.h"
#include <linux/aio_abi.h>
#include <sys/eventfd.h>

int main(void)
{
	aio_context_t ctx = 0;
	int fd = MUST(open("f", O_RDWR | O_CREAT | O_DSYNC, 0600)), e = MUST(eventfd(0, 0));
	char out[512], in[512] = {0};
	memset(out, 'a', sizeof out);
	SHOW(syscall(SYS_io_setup, 8, &ctx));
	struct iocb w = {.aio_lio_opcode = IOCB_CMD_PWRITE, .aio_fildes = fd, .aio_buf = (uint64_t)out, .aio_nbytes = 512, .aio_data = 11,
		.aio_flags = IOCB_FLAG_RESFD, .aio_resfd = e}, r = w, bad = w, *list[2] = {&w};
	SHOW(syscall(SYS_io_submit, ctx, 1, list));
	uint64_t n;
	SHOW(read(e, &n, 8));
	SHOW(n);
	struct io_event ev[4];
	SHOW(syscall(SYS_io_getevents, ctx, 1, 4, ev, NULL));
	printf("data %llu, result %lld\n", ev[0].data, ev[0].res);
	r.aio_lio_opcode = IOCB_CMD_PREAD;
	r.aio_buf = (uint64_t)in;
	r.aio_data = 12;
	bad.aio_fildes = 999;
	list[0] = &r;
	list[1] = &bad;
	SHOW(syscall(SYS_io_submit, ctx, 2, list));
	SHOW(syscall(SYS_io_getevents, ctx, 1, 4, ev, NULL));
	printf("data %llu, result %lld\n", ev[0].data, ev[0].res);
	SURE(!memcmp(in, out, 512));
	list[0] = &bad;
	SHOW(syscall(SYS_io_submit, ctx, 1, list));
	struct timespec zero = {0, 0};
	SHOW(syscall(SYS_io_getevents, ctx, 1, 4, ev, &zero));
	SHOW(syscall(SYS_io_getevents, ctx, 5, 4, ev, &zero));
	SHOW(syscall(SYS_io_destroy, ctx));
	SHOW(syscall(SYS_io_destroy, ctx));
	SHOW(syscall(SYS_io_setup, 0, &ctx));
}
