// A parent accepts and hands the connection to its child.
#include "net.h"

int main(void)
{
	struct sockaddr_in a;
	int l = listener(&a), p[2];
	char b[16] = {0}, ctl[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec v = {b, 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = ctl, .msg_controllen = sizeof ctl};
	MUST(socketpair(AF_UNIX, SOCK_DGRAM, 0, p));
	pid_t child = fork();
	if (child == 0) {
		int c;
		MUST(recvmsg(p[1], &m, 0));
		memcpy(&c, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof c);
		ssize_t n = MUST(read(c, b, 16));
		MUST(write(c, b, n));
		_exit(n);
	}
	int s = dial(&a), c = MUST(accept(l, NULL, NULL));
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &c, sizeof c);
	SHOW(sendmsg(p[0], &m, 0));
	close(c);
	SHOW(write(s, "handed", 6));
	SHOW(recv(s, b, 6, MSG_WAITALL));
	printf("%s\n", b);
	show_wait("child", child);
	SHOW(read(s, b, 16));
}
