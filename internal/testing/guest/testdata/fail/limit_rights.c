// At the limit of descriptors those of a message are dropped, and the message says so.
#include "net.h"

static void put(int s, int n)
{
	int fds[3] = {0, 0, 0};
	char control[CMSG_SPACE(sizeof fds)] = {0};
	struct iovec io = {"x", 1};
	struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = CMSG_SPACE(n * sizeof(int))};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);
	c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	MUST(sendmsg(s, &h, 0));
}

static void get(int s)
{
	char b[8], control[CMSG_SPACE(3 * sizeof(int))] = {0};
	struct iovec io = {b, 8};
	struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	SHOW(recvmsg(s, &h, 0));
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);
	printf("descriptors %d, cut %d\n", c ? (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int)) : 0, !!(h.msg_flags & MSG_CTRUNC));
}

int main(void)
{
	int s[2];
	struct rlimit l;
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	MUST(getrlimit(RLIMIT_NOFILE, &l));
	l.rlim_cur = s[1] + 3;
	put(s[0], 3);
	put(s[0], 1);
	put(s[0], 2);
	MUST(setrlimit(RLIMIT_NOFILE, &l));
	get(s[1]);
	get(s[1]);
	SHOW(close(s[1] + 1));
	get(s[1]);
}
