// Regular files, directories and devices are always ready.
#include "guest.h"

static void state(const char *path, int flags)
{
	int fd = MUST(open(path, flags, 0600));
	struct pollfd p = {.fd = fd, .events = POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM | POLLPRI};
	poll(&p, 1, 0);
	printf("%s: %s\n", path, events(p.revents));
}

int main(void)
{
	state("file", O_RDWR | O_CREAT);
	state("file", O_RDONLY);
	state(".", O_RDONLY);
	state("/dev/null", O_RDWR);
	state("/dev/zero", O_RDONLY);
	int p[2];
	MUST(pipe(p));
	struct pollfd f = {.fd = p[1], .events = POLLOUT | POLLWRNORM};
	poll(&f, 1, 0);
	printf("pipe: %s\n", events(f.revents));
}
