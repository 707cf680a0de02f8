// Receiving with flags and addresses that cannot work; options of unknown levels.
#include "net.h"

int main(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof a;
	char b[64], control[64];
	int l = MUST(socket(AF_INET, SOCK_STREAM, 0)), v;
	MUST(bind(l, (struct sockaddr *)&a, sizeof a));
	MUST(listen(l, 5));
	MUST(getsockname(l, (struct sockaddr *)&a, &n));
	int c = MUST(socket(AF_INET, SOCK_STREAM, 0));
	MUST(connect(c, (struct sockaddr *)&a, sizeof a));
	int s = MUST(accept(l, NULL, NULL));
	SHOW(recv(s, b, sizeof b, MSG_OOB));
	SHOW(recv(s, b, sizeof b, MSG_ERRQUEUE));
	SHOW(recv(s, b, sizeof b, MSG_OOB | MSG_DONTWAIT));
	SHOW(recv(s, b, sizeof b, -1));
	MUST(send(c, "hello", 5, 0));
	SHOW(recv(s, (void *)-1, 5, 0));
	SHOW(recvfrom(s, b, 1, 0, (void *)-1, &n));
	SHOW(recvfrom(s, b, 1, 0, (struct sockaddr *)&a, (void *)-1));
	n = -1;
	SHOW(recvfrom(s, b, 1, 0, (struct sockaddr *)&a, &n));
	SHOW(recv(s, b, sizeof b, 0));
	struct iovec iov = {b, sizeof b};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	SHOW(recvmsg(s, &m, MSG_ERRQUEUE));
	SHOW(m.msg_flags);
	SHOW(recvmsg(s, &m, MSG_OOB));
	m.msg_iovlen = -1;
	SHOW(recvmsg(s, &m, 0));
	m.msg_iovlen = 1;
	MUST(send(c, "hello", 5, 0));
	m.msg_iov = (void *)-1;
	SHOW(recvmsg(s, &m, 0));
	SHOW(recvmsg(s, (void *)-1, 0));
	SHOW(recv(s, b, sizeof b, 0));
	int u = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	SHOW(recv(u, b, sizeof b, MSG_OOB | MSG_DONTWAIT));
	SHOW(recv(u, b, sizeof b, MSG_ERRQUEUE));
	int pair[2];
	MUST(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
	SHOW(recv(pair[0], b, sizeof b, MSG_OOB));
	int sockets[] = {c, u, pair[0]};
	for (int i = 0; i < 3; i++) {
		n = sizeof v;
		SHOW(getsockopt(sockets[i], 500, 1, &v, &n));
		SHOW(getsockopt(sockets[i], SOL_SOCKET, 9999, &v, &n));
		SHOW(getsockopt(sockets[i], IPPROTO_IP, 9999, &v, &n));
		SHOW(getsockopt(sockets[i], IPPROTO_TCP, 9999, &v, &n));
		SHOW(getsockopt(sockets[i], IPPROTO_UDP, 9999, &v, &n));
		SHOW(getsockopt(sockets[i], IPPROTO_IPV6, 9999, &v, &n));
	}
}
