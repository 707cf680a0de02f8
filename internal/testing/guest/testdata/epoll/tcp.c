// The life of a TCP connection as an edge-triggered set sees it.
#include "epoll.h"

int main(void)
{
	struct sockaddr_in a;
	int ep = MUST(epoll_create1(0)), l = listener(&a);
	char b[64];
	names[l] = "listener";
	MUST(ctl(ep, EPOLL_CTL_ADD, l, EPOLLIN));
	ready(ep, 8, 0);
	int s = dial(&a);
	ready(ep, 8, 1000);
	int c = MUST(accept4(l, NULL, NULL, SOCK_NONBLOCK));
	names[c] = "accepted";
	MUST(ctl(ep, EPOLL_CTL_ADD, c, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET));
	ready(ep, 8, 0);
	ready(ep, 8, 0);
	MUST(write(s, "abc", 3));
	ready(ep, 8, 1000);
	SHOW(read(c, b, 64));
	SHOW(read(c, b, 64));
	ready(ep, 8, 0);
	shutdown(s, SHUT_WR);
	ready(ep, 8, 1000);
	ready(ep, 8, 0);
	SHOW(read(c, b, 64));
	MUST(write(c, "reply", 5));
	SHOW(read(s, b, 64));
	close(s);
	close(c);
	ready(ep, 8, 0);
}
