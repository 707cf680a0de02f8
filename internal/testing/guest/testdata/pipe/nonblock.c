// O_NONBLOCK: empty, full, partial writes and the atomic size.
#include "guest.h"

int main(void)
{
	int p[2];
	static char b[1 << 17];
	SHOW(pipe2(p, O_NONBLOCK | O_CLOEXEC));
	SHOW(fcntl(p[0], F_GETFD));
	SHOW(read(p[0], b, 1));
	SHOW(write(p[1], b, sizeof b));
	SHOW(write(p[1], b, 1));
	struct pollfd f = {.fd = p[1], .events = POLLOUT};
	SHOW(poll(&f, 1, 0));
	SHOW(read(p[0], b, 100));
	SHOW(poll(&f, 1, 0));
	SHOW(read(p[0], b, 4000));
	SHOW(poll(&f, 1, 0));
	SHOW(write(p[1], b, 4097));
	SHOW(read(p[0], b, sizeof b));
	SHOW(pipe2(p, 0x8));
	int n = 0;
	MUST(pipe2(p, O_NONBLOCK));
	MUST(write(p[1], b, 65536 - 4096));
	SHOW(write(p[1], b, 4096));
	SHOW(write(p[1], b, 4096));
	SHOW(ioctl(p[0], FIONREAD, &n));
	SHOW(n);
}
