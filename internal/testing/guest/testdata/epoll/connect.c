// A non-blocking connect that is refused, and one that succeeds.
#include "epoll.h"

int main(void)
{
	struct sockaddr_in bad = unused(), good;
	int ep = MUST(epoll_create1(0)), l = listener(&good);
	int s = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
	names[s] = "refused";
	MUST(ctl(ep, EPOLL_CTL_ADD, s, EPOLLOUT | EPOLLIN));
	ready(ep, 8, 0);
	SHOW(connect(s, (struct sockaddr *)&bad, sizeof bad));
	ready(ep, 8, 1000);
	printf("error %s\n", errname(so_error(s)));
	close(s);
	s = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
	names[s] = "connected";
	SHOW(connect(s, (struct sockaddr *)&good, sizeof good));
	MUST(ctl(ep, EPOLL_CTL_ADD, s, EPOLLOUT | EPOLLIN));
	ready(ep, 8, 1000);
	printf("error %s\n", errname(so_error(s)));
	close(l);
}
