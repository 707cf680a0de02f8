// What epoll_ctl and epoll_wait refuse.
#include "epoll.h"

int main(void)
{
	int ep = MUST(epoll_create1(0)), other = MUST(epoll_create1(0)), p[2], file = MUST(open("file", O_CREAT | O_RDWR, 0600));
	struct epoll_event e;
	MUST(pipe(p));
	SHOW(epoll_create1(1));
	SHOW(epoll_create(0));
	SHOW(ctl(ep, EPOLL_CTL_ADD, p[0], EPOLLIN));
	SHOW(ctl(ep, EPOLL_CTL_ADD, p[0], EPOLLIN));
	SHOW(ctl(ep, EPOLL_CTL_MOD, p[1], EPOLLIN));
	SHOW(ctl(ep, EPOLL_CTL_DEL, p[1], 0));
	SHOW(ctl(ep, EPOLL_CTL_ADD, file, EPOLLIN));
	SHOW(ctl(ep, EPOLL_CTL_ADD, 0x1000, EPOLLIN));
	SHOW(ctl(0x1000, EPOLL_CTL_ADD, p[0], EPOLLIN));
	SHOW(ctl(p[0], EPOLL_CTL_ADD, p[1], EPOLLIN));
	SHOW(ctl(ep, EPOLL_CTL_ADD, ep, EPOLLIN));
	SHOW(ctl(ep, 17, p[1], EPOLLIN));
	SHOW(epoll_ctl(ep, EPOLL_CTL_ADD, p[1], NULL));
	SHOW(epoll_ctl(ep, EPOLL_CTL_DEL, p[0], NULL));
	SHOW(ctl(ep, EPOLL_CTL_ADD, other, EPOLLIN));
	SHOW(ctl(other, EPOLL_CTL_ADD, ep, EPOLLIN));
	SHOW(epoll_wait(ep, &e, 0, 0));
	SHOW(epoll_wait(ep, &e, -1, 0));
	SHOW(epoll_wait(p[0], &e, 1, 0));
	SHOW(epoll_wait(0x1000, &e, 1, 0));
	SHOW(ctl(ep, EPOLL_CTL_ADD, p[1], EPOLLOUT));
	SHOW(epoll_wait(ep, (void *)8, 1, 0));
	SHOW(ctl(ep, EPOLL_CTL_ADD, p[0], EPOLLIN | EPOLLEXCLUSIVE));
	SHOW(ctl(ep, EPOLL_CTL_MOD, p[0], EPOLLIN));
	SHOW(ctl(ep, EPOLL_CTL_DEL, p[0], 0));
	SHOW(ctl(ep, EPOLL_CTL_ADD, p[0], EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT));
}
