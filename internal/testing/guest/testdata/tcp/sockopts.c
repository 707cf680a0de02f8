// Socket options and their values.
#include "net.h"

static void get(const char *what, int s, int level, int opt)
{
	int v = -1;
	socklen_t n = sizeof v;
	if (getsockopt(s, level, opt, &v, &n) < 0)
		printf("%s: %s\n", what, errname(errno));
	else
		printf("%s = %d (%u bytes)\n", what, v, n);
}
#define GET(s, level, opt) get(#opt, s, level, opt)

static void set(const char *what, int s, int level, int opt, int v)
{
	int r = setsockopt(s, level, opt, &v, sizeof v);
	printf("set %s %d: %s\n", what, v, r < 0 ? errname(errno) : "done");
}
#define SET(s, level, opt, v) set(#opt, s, level, opt, v)

int main(void)
{
	struct sockaddr_in a;
	int l = listener(&a), s = dial(&a);
	GET(s, SOL_SOCKET, SO_TYPE);
	GET(s, SOL_SOCKET, SO_DOMAIN);
	GET(s, SOL_SOCKET, SO_PROTOCOL);
	GET(s, SOL_SOCKET, SO_ACCEPTCONN);
	GET(l, SOL_SOCKET, SO_ACCEPTCONN);
	GET(s, SOL_SOCKET, SO_ERROR);
	GET(s, SOL_SOCKET, SO_KEEPALIVE);
	SET(s, SOL_SOCKET, SO_KEEPALIVE, 5);
	GET(s, SOL_SOCKET, SO_KEEPALIVE);
	SET(s, IPPROTO_TCP, TCP_KEEPIDLE, 30);
	GET(s, IPPROTO_TCP, TCP_KEEPIDLE);
	SET(s, IPPROTO_TCP, TCP_KEEPINTVL, 5);
	GET(s, IPPROTO_TCP, TCP_KEEPINTVL);
	SET(s, IPPROTO_TCP, TCP_KEEPCNT, 3);
	GET(s, IPPROTO_TCP, TCP_KEEPCNT);
	SET(s, IPPROTO_TCP, TCP_KEEPCNT, 1000);
	GET(s, IPPROTO_TCP, TCP_NODELAY);
	SET(s, IPPROTO_TCP, TCP_NODELAY, 1);
	GET(s, IPPROTO_TCP, TCP_NODELAY);
	SET(s, IPPROTO_TCP, TCP_USER_TIMEOUT, 9000);
	GET(s, IPPROTO_TCP, TCP_USER_TIMEOUT);
	SET(s, SOL_SOCKET, SO_REUSEADDR, 1);
	GET(s, SOL_SOCKET, SO_REUSEADDR);
	SET(s, SOL_SOCKET, SO_BROADCAST, 1);
	GET(s, SOL_SOCKET, SO_BROADCAST);
	SET(s, SOL_SOCKET, SO_RCVBUF, 20000);
	GET(s, SOL_SOCKET, SO_RCVBUF);
	SET(s, SOL_SOCKET, SO_SNDBUF, 20000);
	GET(s, SOL_SOCKET, SO_SNDBUF);
	SET(s, SOL_SOCKET, SO_RCVLOWAT, 7);
	GET(s, SOL_SOCKET, SO_RCVLOWAT);
	GET(s, IPPROTO_IP, IP_TOS);
	SET(s, IPPROTO_IP, IP_TOS, 16);
	GET(s, IPPROTO_IP, IP_TOS);
	struct linger lg = {1, 4};
	socklen_t n = sizeof lg;
	SHOW(setsockopt(s, SOL_SOCKET, SO_LINGER, &lg, n));
	lg.l_onoff = lg.l_linger = 0;
	SHOW(getsockopt(s, SOL_SOCKET, SO_LINGER, &lg, &n));
	printf("linger %d %d\n", lg.l_onoff, lg.l_linger);
	struct timeval tv = {1, 500000};
	n = sizeof tv;
	SHOW(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &tv, n));
	tv.tv_sec = tv.tv_usec = 0;
	SHOW(getsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &tv, &n));
	printf("timeout %ld.%06ld\n", (long)tv.tv_sec, (long)tv.tv_usec);
	char one = 1;
	SHOW(setsockopt(s, SOL_SOCKET, SO_KEEPALIVE, &one, 1));
	SHOW(setsockopt(s, SOL_SOCKET, SO_TYPE, &lg, 4));
	SHOW(setsockopt(0x1000, SOL_SOCKET, SO_KEEPALIVE, &lg, 4));
	SHOW(setsockopt(0, SOL_SOCKET, SO_KEEPALIVE, &lg, 4));
	close(l);
}
