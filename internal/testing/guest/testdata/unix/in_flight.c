// guest: root
// How many descriptors of one user may be on their way in messages.
#include "guest.h"
#include <sys/resource.h>
#include <sys/socket.h>

static int give(int s, int fd, int n)
{
	char control[CMSG_SPACE(10 * sizeof(int))] = {0};
	struct iovec v = {"x", 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = CMSG_SPACE(n * sizeof(int))};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	for (int i = 0; i < n; i++)
		((int *)CMSG_DATA(c))[i] = fd;
	return sendmsg(s, &m, 0) < 0 ? errno : 0;
}

static int take(int s)
{
	char control[CMSG_SPACE(10 * sizeof(int))], b;
	struct iovec v = {&b, 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	if (recvmsg(s, &m, 0) < 0)
		return -errno;
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int n = c ? (c->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
	for (int i = 0; i < n; i++)
		close(((int *)CMSG_DATA(c))[i]);
	return n;
}

static int flood(int s, int n)
{
	for (int i = 0;; i++) {
		int e = give(s, 0, n);
		if (e != 0) {
			printf("after %d messages: %s\n", i, strerror(e));
			return i;
		}
	}
}

int main(void)
{
	int s[2], d[2];
	struct rlimit l = {64, 64};
	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s));
	MUST(setrlimit(RLIMIT_NOFILE, &l));
	MUST(setresuid(54322, 54322, 54322));
	flood(s[0], 10);
	printf("taken %d\n", take(s[1]));
	flood(s[0], 1);
	printf("without descriptors: %zd\n", send(s[0], "x", 1, 0));
	l.rlim_cur = 32;
	MUST(setrlimit(RLIMIT_NOFILE, &l));
	printf("with a lower limit: %d\n", give(s[0], 0, 1) == ETOOMANYREFS);
	while (take(s[1]) > 0)
		;
	flood(s[0], 10);
	close(s[1]); // with what is on its way
	MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, d));
	flood(d[0], 10);
	return 0;
}
