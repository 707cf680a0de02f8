// Every socket option that is known, on every kind of socket, with values of all lengths:
// what is refused, what is kept.
#include "net.h"
#include <netinet/udp.h>

#define O(level, name) {level, name, #name}
static const struct { int level, name; const char *text; } options[] = {
	O(SOL_SOCKET, SO_DEBUG), O(SOL_SOCKET, SO_REUSEADDR), O(SOL_SOCKET, SO_TYPE), O(SOL_SOCKET, SO_DONTROUTE),
	O(SOL_SOCKET, SO_BROADCAST), O(SOL_SOCKET, SO_KEEPALIVE), O(SOL_SOCKET, SO_OOBINLINE),
	O(SOL_SOCKET, SO_NO_CHECK), O(SOL_SOCKET, SO_PRIORITY), O(SOL_SOCKET, SO_LINGER), O(SOL_SOCKET, SO_REUSEPORT),
	O(SOL_SOCKET, SO_PASSCRED), O(SOL_SOCKET, SO_RCVLOWAT), O(SOL_SOCKET, SO_SNDLOWAT),
	O(SOL_SOCKET, SO_RCVTIMEO), O(SOL_SOCKET, SO_SNDTIMEO), O(SOL_SOCKET, SO_ACCEPTCONN),
	O(SOL_SOCKET, SO_PROTOCOL), O(SOL_SOCKET, SO_DOMAIN), O(SOL_SOCKET, SO_ERROR),
	O(IPPROTO_IP, IP_TOS), O(IPPROTO_IP, IP_TTL), O(IPPROTO_IP, IP_PKTINFO), O(IPPROTO_IP, IP_RECVTTL),
	O(IPPROTO_IP, IP_RECVTOS), O(IPPROTO_IP, IP_MTU_DISCOVER), O(IPPROTO_IP, IP_RECVERR),
	O(IPPROTO_IP, IP_MULTICAST_TTL), O(IPPROTO_IP, IP_MULTICAST_LOOP), O(IPPROTO_IP, IP_MULTICAST_ALL),
	O(IPPROTO_IP, IP_FREEBIND), O(IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT),
	O(IPPROTO_IPV6, IPV6_V6ONLY), O(IPPROTO_IPV6, IPV6_UNICAST_HOPS), O(IPPROTO_IPV6, IPV6_MULTICAST_HOPS),
	O(IPPROTO_IPV6, IPV6_MULTICAST_LOOP), O(IPPROTO_IPV6, IPV6_RECVPKTINFO), O(IPPROTO_IPV6, IPV6_RECVHOPLIMIT),
	O(IPPROTO_IPV6, IPV6_TCLASS), O(IPPROTO_IPV6, IPV6_RECVTCLASS), O(IPPROTO_IPV6, IPV6_RECVERR),
	O(IPPROTO_IPV6, IPV6_DONTFRAG), O(IPPROTO_IPV6, IPV6_MTU_DISCOVER),
	O(IPPROTO_TCP, TCP_NODELAY), O(IPPROTO_TCP, TCP_CORK), O(IPPROTO_TCP, TCP_KEEPIDLE), O(IPPROTO_TCP, TCP_KEEPINTVL),
	O(IPPROTO_TCP, TCP_KEEPCNT), O(IPPROTO_TCP, TCP_SYNCNT), O(IPPROTO_TCP, TCP_LINGER2),
	O(IPPROTO_TCP, TCP_DEFER_ACCEPT), O(IPPROTO_TCP, TCP_QUICKACK), O(IPPROTO_TCP, TCP_USER_TIMEOUT),
	O(IPPROTO_TCP, TCP_NOTSENT_LOWAT), O(IPPROTO_UDP, UDP_CORK),
};

static const struct { int domain, type; const char *text; } kinds[] = {
	{AF_INET, SOCK_STREAM, "tcp"}, {AF_INET6, SOCK_STREAM, "tcp6"}, {AF_INET, SOCK_DGRAM, "udp"},
	{AF_INET6, SOCK_DGRAM, "udp6"}, {AF_UNIX, SOCK_STREAM, "unix"}, {AF_UNIX, SOCK_DGRAM, "unixdgram"},
};


static void get(int s, int level, int name, socklen_t n)
{
	unsigned char v[16] = {0};
	if (getsockopt(s, level, name, v, &n) < 0)
		printf(" %s", errname(errno));
	else {
		printf(" ");
		for (unsigned i = 0; i < n; i++)
			printf("%02x", v[i]);
	}
}

static void try(const char *what, int domain, int type, int bound, int level, int name)
{
	int s = MUST(socket(domain, type, 0));
	struct sockaddr_storage a = {.ss_family = domain};
	if (bound)
		MUST(bind(s, (struct sockaddr *)&a, domain == AF_INET ? 16 : 28));
	printf("%s get", what);
	for (int room = 0; room <= 16; room = room ? room * 4 : 1)
		get(s, level, name, room);
	printf("\n");
	for (int i = 0; i < 6; i++) {
		static const int sizes[] = {4, 1, 0, 3, 8, 16}, values[] = {1, 0, 2, -1, 300};
		printf("%s set %d bytes:", what, sizes[i]);
		for (int j = 0; j < 5; j++) {
			int b[4] = {values[j]};
			if (name == SO_RCVLOWAT && level == SOL_SOCKET && values[j] < 0)
				continue; // as great as the machine's buffers may be
			if (setsockopt(s, level, name, b, sizes[i]) < 0)
				printf(" %s", errname(errno));
			else {
				printf(" %d:", values[j]);
				get(s, level, name, 16);
			}
		}
		printf("\n");
	}
	close(s);
}

int main(void)
{
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		for (size_t i = 0; i < sizeof options / sizeof *options; i++)
			for (int bound = 0; bound < (kinds[k].domain == AF_UNIX ? 1 : 2); bound++) {
				char what[80];
				if ((options[i].name == SO_PASSCRED || options[i].name == SO_REUSEPORT) && options[i].level == SOL_SOCKET &&
				    (options[i].name == SO_PASSCRED) != (kinds[k].domain == AF_UNIX))
					continue; // depends on Linux's version
				snprintf(what, sizeof what, "%s%s %s", kinds[k].text, bound ? " bound" : "", options[i].text);
				try(what, kinds[k].domain, kinds[k].type, bound, options[i].level, options[i].name);
			}
	return 0;
}
