// Serves eight connections with one level-triggered set.
#include "../two.h"
#include <sys/epoll.h>

int main(int argc, char **argv)
{
	int l = serve(argv), ep = MUST(epoll_create1(0)), ended = 0;
	long sum = 0;
	struct epoll_event e = {.events = EPOLLIN, .data.fd = l}, got[4];
	MUST(epoll_ctl(ep, EPOLL_CTL_ADD, l, &e));
	while (ended < 8) {
		int n = MUST(epoll_wait(ep, got, 4, -1));
		for (int i = 0; i < n; i++) {
			int v, fd = got[i].data.fd;
			if (fd == l) {
				e.data.fd = MUST(accept(l, NULL, NULL));
				MUST(epoll_ctl(ep, EPOLL_CTL_ADD, e.data.fd, &e));
			} else if (recv(fd, &v, sizeof v, MSG_WAITALL) == sizeof v) {
				sum += v;
				v *= 2;
				MUST(write(fd, &v, sizeof v));
			} else {
				close(fd);
				ended++;
			}
		}
	}
	SHOW(sum);
}
