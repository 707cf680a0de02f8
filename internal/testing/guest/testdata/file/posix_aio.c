// The C library's AIO, which uses threads.
#include "guest.h"
#include <aio.h>

int main(void)
{
	char b[16] = {0};
	int fd = MUST(open("f", O_RDWR | O_CREAT, 0600));
	struct aiocb w = {.aio_fildes = fd, .aio_buf = "written", .aio_nbytes = 7}, r = {.aio_fildes = fd, .aio_buf = b, .aio_nbytes = 16};
	const struct aiocb *list[] = {&w};
	SHOW(aio_write(&w));
	SHOW(aio_suspend(list, 1, NULL));
	SHOWE(aio_error(&w));
	SHOW(aio_return(&w));
	list[0] = &r;
	SHOW(aio_read(&r));
	SHOW(aio_suspend(list, 1, NULL));
	SHOW(aio_return(&r));
	printf("%s\n", b);
}
