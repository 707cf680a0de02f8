// Readiness of a named pipe: no writer yet, a writer, data, writer gone.
#include "guest.h"

static void state(const char *what, int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN | POLLOUT};
	poll(&p, 1, 0);
	printf("%s: %s\n", what, events(p.revents));
}

int main(void)
{
	char b[8];
	MUST(mkfifo("f", 0600));
	int r = MUST(open("f", O_RDONLY | O_NONBLOCK));
	state("no writer yet", r);
	SHOW(read(r, b, 8));
	int w = MUST(open("f", O_WRONLY));
	state("a writer", r);
	MUST(write(w, "x", 1));
	state("data", r);
	close(w);
	state("writer gone, data", r);
	SHOW(read(r, b, 8));
	state("writer gone", r);
	w = MUST(open("f", O_WRONLY));
	state("a new writer", r);
	close(r);
	state("no reader", w);
}
