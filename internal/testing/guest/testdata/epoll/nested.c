// An epoll set in an epoll set, and in poll.
#include "epoll.h"

int main(void)
{
	int inner = MUST(epoll_create1(0)), outer = MUST(epoll_create1(0)), p[2];
	char b[8];
	MUST(pipe(p));
	names[p[0]] = "reader", names[inner] = "inner";
	SHOW(ctl(inner, EPOLL_CTL_ADD, p[0], EPOLLIN));
	SHOW(ctl(outer, EPOLL_CTL_ADD, inner, EPOLLIN));
	ready(outer, 8, 0);
	MUST(write(p[1], "x", 1));
	ready(outer, 8, 1000);
	ready(outer, 8, 0);
	struct pollfd f = {.fd = outer, .events = POLLIN};
	SHOW(poll(&f, 1, 0));
	printf("%s\n", events(f.revents));
	ready(inner, 8, 0);
	MUST(read(p[0], b, 1));
	SHOW(poll(&f, 1, 0));
	ready(outer, 8, 0);
	int sets[6];
	for (int i = 0; i < 6; i++) {
		sets[i] = MUST(epoll_create1(0));
		if (i > 0 && ctl(sets[i], EPOLL_CTL_ADD, sets[i - 1], EPOLLIN) < 0)
			printf("depth %d: %s\n", i, errname(errno));
	}
}
