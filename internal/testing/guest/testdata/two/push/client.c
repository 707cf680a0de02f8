// Waits with an edge-triggered set for what the server pushes.
#include "../two.h"
#include <sys/epoll.h>

int main(int argc, char **argv)
{
	int s = reach(argv), ep = MUST(epoll_create1(0));
	struct epoll_event e = {.events = EPOLLIN | EPOLLET | EPOLLRDHUP};
	MUST(fcntl(s, F_SETFL, O_NONBLOCK));
	MUST(epoll_ctl(ep, EPOLL_CTL_ADD, s, &e));
	for (;;) {
		char b[8];
		ssize_t n;
		MUST(epoll_wait(ep, &e, 1, -1));
		while ((n = read(s, b, 8)) > 0) {
			printf("got %.*s\n", (int)n, b);
			MUST(write(s, b, n));
		}
		if (n == 0)
			break;
	}
	printf("end\n");
}
