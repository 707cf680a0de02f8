// Descriptors travel over a Unix socket and share their open file.
#include "net.h"

static void pass(int s, int *fds, int n)
{
	char ctl[CMSG_SPACE(sizeof(int) * 8)] = {0};
	struct iovec v = {"F", 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = ctl, .msg_controllen = CMSG_SPACE(sizeof(int) * n)};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int) * n);
	memcpy(CMSG_DATA(h), fds, sizeof(int) * n);
	SHOW(sendmsg(s, &m, 0));
}

static int take(int s, int *fds, int room, int flags)
{
	char ctl[CMSG_SPACE(sizeof(int) * 8)], b[8];
	struct iovec v = {b, 8};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = ctl, .msg_controllen = room ? CMSG_SPACE(sizeof(int) * room) : 0};
	SHOW(recvmsg(s, &m, flags));
	SURE(m.msg_flags & MSG_CTRUNC);
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	if (!h)
		return 0;
	int n = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(fds, CMSG_DATA(h), n * sizeof(int));
	return n;
}

int main(void)
{
	int p[2], q[2], f[8];
	char b[16] = {0};
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
	MUST(pipe(q));
	int file = MUST(open("file", O_RDWR | O_CREAT, 0600));
	MUST(write(file, "0123456789", 10));
	MUST(lseek(file, 2, SEEK_SET));
	pass(p[0], (int[]){q[0], q[1], file}, 3);
	close(q[0]);
	int own = q[1];
	SHOW(take(p[1], f, 4, 0));
	SHOW(write(own, "via pipe", 8));
	SHOW(read(f[0], b, 16));
	printf("%s\n", b);
	SHOW(read(f[2], b, 3));
	SHOW(lseek(file, 0, SEEK_CUR));
	SHOW(fcntl(f[2], F_GETFD));
	close(own);
	close(f[1]);
	SHOW(read(f[0], b, 16));

	pass(p[0], &file, 1);
	SHOW(take(p[1], f, 1, MSG_CMSG_CLOEXEC));
	SHOW(fcntl(f[0], F_GETFD));
	pass(p[0], (int[]){file, file}, 2);
	SHOW(take(p[1], f, 0, 0));
	pass(p[0], (int[]){0x1000}, 1);

	// A descriptor in flight keeps its file open.
	MUST(pipe(q));
	pass(p[0], &q[1], 1);
	close(q[1]);
	struct pollfd pf = {.fd = q[0], .events = POLLIN};
	SHOW(poll(&pf, 1, 0));
	close(p[0]);
	close(p[1]);
	SHOW(poll(&pf, 1, 1000));
	printf("%s\n", events(pf.revents));
}
