// Sends three megabytes without blocking, then reads as much.
#include "../two.h"

int main(int argc, char **argv)
{
	static char b[50000];
	int s = reach(argv);
	long sent = 0, got = 0;
	MUST(fcntl(s, F_SETFL, O_NONBLOCK));
	while (sent < 3000000) {
		struct pollfd p = {.fd = s, .events = POLLOUT};
		MUST(poll(&p, 1, -1));
		size_t n = 0;
		while (n < sizeof b && sent + (long)n < 3000000)
			b[n] = (sent + n) % 253, n++;
		ssize_t w = write(s, b, n);
		if (w > 0)
			sent += w;
		else if (errno != EAGAIN)
			MUST(w);
	}
	SHOW(sent);
	MUST(fcntl(s, F_SETFL, 0));
	ssize_t n;
	while ((n = read(s, b, sizeof b)) > 0)
		got += n;
	SHOW(n);
	SHOW(got);
}
