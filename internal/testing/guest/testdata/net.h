// What the guest programs that use sockets share.
#ifndef NET_H
#define NET_H
#include "guest.h"
#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

// loopback is 127.0.0.1 with a port in host order.
static inline struct sockaddr_in loopback(int port)
{
	return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

// bound makes an IPv4 socket bound to a free port of loopback and says which.
static inline int bound(int type, struct sockaddr_in *a)
{
	socklen_t n = sizeof *a;
	int s = MUST(socket(AF_INET, type, 0));
	*a = loopback(0);
	MUST(bind(s, (struct sockaddr *)a, sizeof *a));
	MUST(getsockname(s, (struct sockaddr *)a, &n));
	return s;
}

// listener makes a listening TCP socket on a free port.
static inline int listener(struct sockaddr_in *a)
{
	int s = bound(SOCK_STREAM, a);
	MUST(listen(s, 16));
	return s;
}

// dial connects a new TCP socket to a.
static inline int dial(struct sockaddr_in *a)
{
	int s = MUST(socket(AF_INET, SOCK_STREAM, 0));
	MUST(connect(s, (struct sockaddr *)a, sizeof *a));
	return s;
}

// tcp_pair makes both ends of a TCP connection: s[0] connected, s[1] accepted.
static inline void tcp_pair(int s[2])
{
	struct sockaddr_in a;
	int l = listener(&a);
	s[0] = dial(&a);
	s[1] = MUST(accept(l, NULL, NULL));
	close(l);
}

// unused returns an address of loopback at which nobody listens.
static inline struct sockaddr_in unused(void)
{
	struct sockaddr_in a;
	close(listener(&a));
	return a;
}

// wait_for polls one descriptor, for at most two seconds, and prints what holds.
static inline int wait_for(const char *who, int fd, int ev)
{
	struct pollfd p = {.fd = fd, .events = ev};
	int r = poll(&p, 1, 2000);
	printf("%s: %s\n", who, r < 0 ? strerrorname_np(errno) : events(p.revents));
	return p.revents;
}

// so_error takes the pending error of a socket.
static inline int so_error(int s)
{
	int e = -1;
	socklen_t n = sizeof e;
	MUST(getsockopt(s, SOL_SOCKET, SO_ERROR, &e, &n));
	return e;
}

// unix_addr names a Unix socket; a leading '@' makes it abstract.
static inline socklen_t unix_addr(struct sockaddr_un *a, const char *name)
{
	memset(a, 0, sizeof *a);
	a->sun_family = AF_UNIX;
	strcpy(a->sun_path, name);
	if (*name == '@') {
		a->sun_path[0] = 0;
		return offsetof(struct sockaddr_un, sun_path) + strlen(name);
	}
	return sizeof *a;
}

// unix_bound makes a Unix socket bound to name.
static inline int unix_bound(int type, const char *name)
{
	struct sockaddr_un a;
	socklen_t n = unix_addr(&a, name);
	int s = MUST(socket(AF_UNIX, type, 0));
	MUST(bind(s, (struct sockaddr *)&a, n));
	return s;
}

// unix_connect connects s to name; -1 and errno as connect(2).
static inline int unix_connect(int s, const char *name)
{
	struct sockaddr_un a;
	socklen_t n = unix_addr(&a, name);
	return connect(s, (struct sockaddr *)&a, n);
}
#endif
