// A connection that keeps the borders of messages.
#include "net.h"

int main(void)
{
	int l = unix_bound(SOCK_SEQPACKET, "sock"), s = MUST(socket(AF_UNIX, SOCK_SEQPACKET, 0)), c;
	char b[16] = {0};
	SHOW(listen(l, 4));
	SHOW(unix_connect(s, "sock"));
	c = MUST(accept(l, NULL, NULL));
	SHOW(send(s, "first", 5, 0));
	SHOW(send(s, "second", 6, 0));
	SHOW(send(s, "third", 5, 0));
	SHOW(recv(c, b, 16, 0));
	printf("%s\n", b);
	SHOW(recv(c, b, 3, 0));
	SHOW(recv(c, b, 16, MSG_PEEK));
	struct iovec v = {b, 2};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	SHOW(recvmsg(c, &m, 0));
	SURE(m.msg_flags & MSG_TRUNC);
	SHOW(write(c, "", 0));
	SHOW(recv(s, b, 16, MSG_DONTWAIT));
	close(s);
	SHOW(recv(c, b, 16, 0));
	SHOW(send(c, "x", 1, MSG_NOSIGNAL));
	SHOW(unix_connect(MUST(socket(AF_UNIX, SOCK_STREAM, 0)), "sock"));
}
