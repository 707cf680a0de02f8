// A read of no bytes takes nothing from a socket; recv of none takes a datagram. What is
// read from a datagram socket after SHUT_RD.
#include "net.h"
#include <sys/uio.h>

static void nothing_from(const char *what, int to, int from)
{
	char b[8];
	struct iovec v[2] = {{b, 0}, {b, 0}};
	printf("%s\n", what);
	SHOW(write(to, "one", 3));
	SHOW(write(to, "three", 5));
	SHOW(read(from, b, 0));
	SHOW(readv(from, v, 2));
	SHOW(readv(from, v, 0));
	SHOW(read(from, NULL, 0));
	SHOW(recv(from, b, 0, MSG_DONTWAIT));
	SHOW(recv(from, b, 8, MSG_DONTWAIT));
	SHOW(recv(from, b, 8, MSG_DONTWAIT));
	SHOW(read(from, b, 0));
}

static void after_shutdown(int type, int how)
{
	int p[2];
	char b[8];
	printf("type %d, shutdown %d\n", type, how);
	MUST(socketpair(AF_UNIX, type, 0, p));
	SHOW(write(p[0], "early", 5));
	SHOW(shutdown(p[1], how));
	signal(SIGPIPE, SIG_IGN);
	SHOW(write(p[0], "late", 4));
	SHOW(recv(p[1], b, 8, MSG_DONTWAIT));
	SHOW(recv(p[1], b, 8, MSG_DONTWAIT));
	if (how != SHUT_WR)
		SHOW(read(p[1], b, 8));
	SHOW(write(p[1], "back", 4));
	SHOW(recv(p[0], b, 8, MSG_DONTWAIT));
	wait_for("shut", p[1], POLLIN | POLLOUT | POLLRDHUP);
	wait_for("other", p[0], POLLIN | POLLOUT | POLLRDHUP);
	close(p[0]), close(p[1]);
}

int main(void)
{
	int p[2];
	for (int i = 0; i < 3; i++) {
		MUST(socketpair(AF_UNIX, (int[]){SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET}[i], 0, p));
		nothing_from((char *[]){"stream", "dgram", "seqpacket"}[i], p[0], p[1]);
		for (int how = 0; how < 3; how++)
			after_shutdown((int[]){SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET}[i], how);
	}
	struct sockaddr_in a, b;
	int x = bound(SOCK_DGRAM, &a), y = bound(SOCK_DGRAM, &b);
	MUST(connect(x, (struct sockaddr *)&b, sizeof b));
	nothing_from("udp", x, y);
	char buf[8];
	SHOW(shutdown(y, SHUT_RD));
	MUST(connect(y, (struct sockaddr *)&a, sizeof a));
	SHOW(write(x, "a", 1));
	SHOW(shutdown(y, SHUT_RD));
	SHOW(read(y, buf, 8));
	SHOW(read(y, buf, 8));
	SHOW(recv(y, buf, 8, MSG_DONTWAIT));
	tcp_pair(p);
	nothing_from("tcp", p[0], p[1]);
	return 0;
}
