// The size of a pipe can be asked and changed.
#include "guest.h"

int main(void)
{
	int p[2];
	static char b[1 << 18];
	MUST(pipe2(p, O_NONBLOCK));
	SHOW(fcntl(p[0], F_GETPIPE_SZ));
	SHOW(fcntl(p[1], F_SETPIPE_SZ, 131072));
	SHOW(fcntl(p[0], F_GETPIPE_SZ));
	SHOW(write(p[1], b, sizeof b));
	SHOW(fcntl(p[1], F_SETPIPE_SZ, 4096));
	SHOW(read(p[0], b, sizeof b));
	SHOW(fcntl(p[1], F_SETPIPE_SZ, 5000));
	SHOW(fcntl(p[1], F_SETPIPE_SZ, 1));
	SHOW(write(p[1], b, sizeof b));
	SHOW(fcntl(0x1000, F_GETPIPE_SZ));
	SHOW(fcntl(MUST(open("/dev/null", O_RDWR)), F_GETPIPE_SZ));
}
