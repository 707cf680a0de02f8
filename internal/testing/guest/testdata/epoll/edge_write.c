// Edge-triggered writing: a full socket is reported once room is made.
#include "epoll.h"

int main(void)
{
	int ep = MUST(epoll_create1(0)), s[2];
	static char b[1 << 16];
	long sent = 0, got = 0;
	ssize_t n;
	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s));
	names[s[0]] = "socket";
	SHOW(ctl(ep, EPOLL_CTL_ADD, s[0], EPOLLOUT | EPOLLET));
	ready(ep, 8, 0);
	ready(ep, 8, 0);
	while ((n = write(s[0], b, sizeof b)) > 0)
		sent += n;
	ready(ep, 8, 0);
	while ((n = read(s[1], b, sizeof b)) > 0)
		got += n;
	SURE(sent == got);
	ready(ep, 8, 1000);
	ready(ep, 8, 0);
}
