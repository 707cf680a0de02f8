// MSG_FASTOPEN connects and sends in one call. No server has given a cookie for it, so that the
// data goes when the connection is there.
#include "net.h"

#define TO(a) (struct sockaddr *)&a, sizeof a

int main(void)
{
	struct sockaddr_in a, nobody = unused(), none = {.sin_family = AF_UNSPEC};
	char b[16];
	int l = listener(&a);
	int s = MUST(socket(AF_INET, SOCK_STREAM, 0));
	SHOW(sendto(s, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, NULL, 0));
	SHOW(sendto(s, "x", 1, MSG_FASTOPEN, TO(none)));
	SHOW(sendto(s, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&a, 4));
	SHOW(sendto(s, "hello", 5, MSG_FASTOPEN, TO(a)));
	int c = MUST(accept(l, NULL, NULL));
	SHOW(recv(c, b, sizeof b, 0));
	SHOW(sendto(s, "x", 1, MSG_FASTOPEN, TO(a)));
	SHOW(sendto(s, "x", 1, MSG_FASTOPEN, NULL, 0));
	SHOW(sendto(c, "x", 1, MSG_FASTOPEN, TO(a)));
	SHOW(sendto(l, "x", 1, MSG_FASTOPEN, TO(a)));
	SHOW(send(s, "again", 5, 0));
	SHOW(recv(c, b, sizeof b, 0));

	s = MUST(socket(AF_INET, SOCK_STREAM, 0));
	SHOW(sendto(s, "x", 1, MSG_FASTOPEN, TO(nobody)));
	SHOW(sendto(s, "", 0, MSG_FASTOPEN, TO(a)));
	c = MUST(accept(l, NULL, NULL));
	SHOW(recv(c, b, sizeof b, MSG_DONTWAIT));

	s = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
	struct iovec v[2] = {{"hel", 3}, {"lo", 2}};
	struct msghdr m = {.msg_name = &a, .msg_namelen = sizeof a, .msg_iov = v, .msg_iovlen = 2};
	SHOW(sendmsg(s, &m, MSG_FASTOPEN));
	wait_for("connecting", s, POLLOUT);
	c = MUST(accept(l, NULL, NULL));
	SHOW(recv(c, b, sizeof b, MSG_DONTWAIT));
	SHOW(sendmsg(s, &m, MSG_FASTOPEN));
	SHOW(recv(c, b, sizeof b, 0));

	s = MUST(socket(AF_INET, SOCK_STREAM, 0));
	SHOW(sendto(s, "x", 1, MSG_FASTOPEN | MSG_DONTWAIT, TO(nobody)));
	SHOW(sendto(s, "x", 1, MSG_FASTOPEN, TO(nobody)));
	int u = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	SHOW(sendto(u, "x", 1, MSG_FASTOPEN, TO(a)));
}
