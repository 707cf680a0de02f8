// What does not fit is cut off; empty datagrams are datagrams.
#include "net.h"

int main(void)
{
	struct sockaddr_in a;
	char b[8] = {0};
	int s = bound(SOCK_DGRAM, &a);
	MUST(connect(s, (struct sockaddr *)&a, sizeof a));
	SHOW(send(s, "0123456789", 10, 0));
	SHOW(recv(s, b, 4, 0));
	printf("%.4s\n", b);
	SHOW(send(s, "0123456789", 10, 0));
	SHOW(recv(s, b, 4, MSG_TRUNC));
	SHOW(send(s, "0123456789", 10, 0));
	SHOW(recv(s, b, 4, MSG_PEEK | MSG_TRUNC));
	struct iovec v = {b, 4};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	SHOW(recvmsg(s, &m, 0));
	SURE(m.msg_flags == MSG_TRUNC);
	SHOW(send(s, "", 0, 0));
	wait_for("empty", s, POLLIN);
	SHOW(recv(s, b, 8, 0));
	SHOW(write(s, "ab", 2));
	SHOW(write(s, "cd", 2));
	SHOW(read(s, b, 8));
	SHOW(read(s, b, 1));
	SHOW(recv(s, b, 8, MSG_DONTWAIT));
	SHOW(recv(s, b, 8, MSG_DONTWAIT | MSG_WAITALL));
}
