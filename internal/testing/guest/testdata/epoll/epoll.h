// What the guest programs for epoll share.
#ifndef EPOLL_H
#define EPOLL_H
#include "../net.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>

// ctl is epoll_ctl with the descriptor as data.
static inline int ctl(int ep, int op, int fd, unsigned ev)
{
	struct epoll_event e = {.events = ev, .data.fd = fd};
	return epoll_ctl(ep, op, fd, &e);
}

// show_ready prints what epoll_wait reports, at most max events; names[fd] is what
// a descriptor is called.
static const char *names[1024];
static inline int ready(int ep, int max, int ms)
{
	struct epoll_event e[16];
	int n = epoll_wait(ep, e, max, ms);
	if (n < 0)
		printf("ready: %s\n", strerrorname_np(errno));
	else if (n == 0)
		printf("ready: nothing\n");
	for (int i = 0; i < n; i++)
		printf("ready: %s %s\n", names[e[i].data.fd] ? names[e[i].data.fd] : "?", events(e[i].events & 0xffff));
	return n;
}
#endif
