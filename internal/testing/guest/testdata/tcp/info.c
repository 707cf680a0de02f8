// TCP_INFO tells the state; SO_PEERNAME's cousins tell the ends.
#include "net.h"

static void state(const char *what, int s)
{
	struct tcp_info i;
	socklen_t n = sizeof i;
	MUST(getsockopt(s, IPPROTO_TCP, TCP_INFO, &i, &n));
	printf("%s: state %d\n", what, i.tcpi_state);
}

int main(void)
{
	struct sockaddr_in a;
	int l = listener(&a);
	state("listener", l);
	int n = MUST(socket(AF_INET, SOCK_STREAM, 0));
	state("new", n);
	int s = dial(&a), c = MUST(accept(l, NULL, NULL));
	state("connected", s);
	state("accepted", c);
	shutdown(s, SHUT_WR);
	wait_for("peer", c, POLLRDHUP);
	state("other end", c);
}
