// SO_PEERCRED and SCM_CREDENTIALS tell who is at the other end.
#include "net.h"

int main(void)
{
	int l = unix_bound(SOCK_STREAM, "sock"), p[2], on = 1;
	struct ucred c;
	socklen_t n = sizeof c;
	char b[8], ctl[256];
	MUST(listen(l, 1));
	pid_t child = fork();
	if (child == 0) {
		int s = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
		MUST(unix_connect(s, "sock"));
		n = sizeof c;
		MUST(getsockopt(s, SOL_SOCKET, SO_PEERCRED, &c, &n));
		int right = c.pid == getppid();
		MUST(write(s, "x", 1));
		_exit(right ? 0 : 1);
	}
	int s = MUST(accept(l, NULL, NULL));
	SHOW(getsockopt(s, SOL_SOCKET, SO_PEERCRED, &c, &n));
	SURE(c.pid == child);
	SURE(c.uid == getuid() && c.gid == getgid());
	show_wait("child", child);

	MUST(socketpair(AF_UNIX, SOCK_DGRAM, 0, p));
	SHOW(setsockopt(p[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on));
	SHOW(send(p[0], "x", 1, 0));
	struct iovec v = {b, 8};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = ctl, .msg_controllen = sizeof ctl};
	SHOW(recvmsg(p[1], &m, 0));
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	SURE(h && h->cmsg_type == SCM_CREDENTIALS);
	memcpy(&c, CMSG_DATA(h), sizeof c);
	SURE(c.pid == getpid());
}
