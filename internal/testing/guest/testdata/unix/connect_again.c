// connect and bind on Unix sockets that are connected, listening or shut down already.
#include "guest.h"
#include <sys/socket.h>
#include <sys/un.h>

static struct sockaddr_un a = {AF_UNIX, "\0again-a"}, b = {AF_UNIX, "\0again-b"}, none = {AF_UNIX, "\0again-none"};
static struct sockaddr bad = {AF_INET}, unspec = {AF_UNSPEC};
#define AT(x) (struct sockaddr *)&x, sizeof x

static void again(int s)
{
	SHOW(connect(s, AT(a)));
	SHOW(connect(s, AT(b)));
	SHOW(connect(s, AT(none)));
	SHOW(connect(s, AT(bad)));
	SHOW(connect(s, (struct sockaddr *)&a, 2));
	SHOW(connect(s, (struct sockaddr *)&a, 1));
	SHOW(connect(s, (struct sockaddr *)&a, 200));
	SHOW(connect(s, (struct sockaddr *)8, sizeof a));
	SHOW(connect(s, AT(unspec)));
	SHOW(listen(s, 5));
}

static void all(int type)
{
	printf("type %d\n", type);
	int l = MUST(socket(AF_UNIX, type, 0)), full = MUST(socket(AF_UNIX, type, 0)), s = MUST(socket(AF_UNIX, type | SOCK_NONBLOCK, 0)), p[2];
	SHOW(bind(l, AT(a)));
	SHOW(bind(full, AT(b)));
	SHOW(listen(l, 9));
	SHOW(listen(full, 0));
	SHOW(connect(MUST(socket(AF_UNIX, type | SOCK_NONBLOCK, 0)), AT(b)));
	SHOW(connect(MUST(socket(AF_UNIX, type | SOCK_NONBLOCK, 0)), AT(b)));
	puts("fresh");
	again(s);
	puts("again");
	again(s);
	puts("a pair");
	MUST(socketpair(AF_UNIX, type | SOCK_NONBLOCK, 0, p));
	again(p[0]);
	puts("shut down");
	MUST(socketpair(AF_UNIX, type | SOCK_NONBLOCK, 0, p));
	SHOW(shutdown(p[0], SHUT_RDWR));
	again(p[0]);
	puts("without its peer");
	MUST(socketpair(AF_UNIX, type | SOCK_NONBLOCK, 0, p));
	close(p[1]);
	again(p[0]);
	puts("a listener");
	fcntl(l, F_SETFL, O_NONBLOCK);
	again(l);
	int w = MUST(socket(AF_UNIX, (type == SOCK_STREAM ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK, 0));
	puts("of another type");
	again(w);
	close(l);
	close(full);
}

int main(void)
{
	all(SOCK_STREAM);
	all(SOCK_SEQPACKET);
	all(SOCK_DGRAM);
}
