// A connection whose reader sleeps fills up, and is writable again when read.
#include "net.h"

int main(void)
{
	int s[2];
	static char b[1 << 16];
	long sent = 0, got = 0;
	ssize_t n;
	tcp_pair(s);
	MUST(fcntl(s[0], F_SETFL, O_NONBLOCK));
	MUST(fcntl(s[1], F_SETFL, O_NONBLOCK));
	for (int quiet = 0; quiet < 3;) {
		if ((n = write(s[0], b, sizeof b)) > 0)
			sent += n, quiet = 0;
		else
			nap(10), quiet++;
	}
	printf("%s\n", errname(errno));
	SURE(sent > 100000);
	struct pollfd p = {.fd = s[0], .events = POLLOUT};
	SHOW(poll(&p, 1, 0));
	while (got < sent) {
		struct pollfd r = {.fd = s[1], .events = POLLIN};
		MUST(poll(&r, 1, 5000) - 1);
		while ((n = read(s[1], b, sizeof b)) > 0)
			got += n;
	}
	SURE(got == sent);
	SHOW(poll(&p, 1, 5000));
	printf("%s\n", events(p.revents));
}
