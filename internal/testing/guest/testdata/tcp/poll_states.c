// What poll says of a TCP socket in each state of its life.
#include "net.h"

static void state(const char *what, int s)
{
	struct pollfd p = {.fd = s, .events = POLLIN | POLLOUT | POLLRDHUP | POLLPRI};
	poll(&p, 1, 0);
	printf("%s: %s\n", what, events(p.revents));
}

int main(void)
{
	struct sockaddr_in a;
	int l = listener(&a), n = MUST(socket(AF_INET, SOCK_STREAM, 0));
	state("new", n);
	state("listening", l);
	int s = dial(&a);
	wait_for("listener", l, POLLIN);
	state("listening, one waits", l);
	int c = MUST(accept(l, NULL, NULL));
	state("connected", s);
	MUST(write(c, "x", 1));
	wait_for("data", s, POLLIN);
	state("with data", s);
	shutdown(s, SHUT_WR);
	state("own end shut", s);
	wait_for("peer", c, POLLRDHUP);
	state("other end shut", c);
	shutdown(c, SHUT_WR);
	wait_for("both", s, POLLRDHUP);
	state("both ends shut", s);
	state("both ends shut", c);
}
