// MSG_WAITALL joins the sends of a stream, but not across descriptors that one of
// them carried, nor the bytes of two senders when the receiver asks for them.
#include "net.h"

static ssize_t send_with(int s, const char *text, int fd)
{
	char ctl[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec v = {(char *)text, strlen(text)};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	if (fd >= 0) {
		m.msg_control = ctl;
		m.msg_controllen = sizeof ctl;
		struct cmsghdr *h = CMSG_FIRSTHDR(&m);
		*h = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
		memcpy(CMSG_DATA(h), &fd, sizeof fd);
	}
	return sendmsg(s, &m, 0);
}

static void take(int s, int size, int flags)
{
	char ctl[256] = {0}, b[64] = {0};
	struct iovec v = {b, size};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = ctl, .msg_controllen = sizeof ctl};
	SHOW(recvmsg(s, &m, flags));
	printf("\"%s\" flags %x\n", b, m.msg_flags);
	for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
		printf("control %d of %zu bytes\n", h->cmsg_type, (size_t)h->cmsg_len);
		if (h->cmsg_type == SCM_RIGHTS) {
			int fd;
			memcpy(&fd, CMSG_DATA(h), sizeof fd);
			SHOW(fcntl(fd, F_GETFD));
			close(fd);
		}
	}
}

int main(void)
{
	int p[2], on = 1;
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
	SHOW(send_with(p[0], "ab", -1));
	SHOW(send_with(p[0], "cd", 1));
	SHOW(send_with(p[0], "ef", -1));
	SHOW(send_with(p[0], "gh", 2));
	take(p[1], 8, MSG_WAITALL);
	take(p[1], 8, MSG_WAITALL);
	SHOW(send_with(p[0], "ijkl", 1));
	SHOW(send_with(p[0], "mn", -1));
	take(p[1], 2, MSG_WAITALL);
	take(p[1], 2, MSG_WAITALL);
	take(p[1], 2, MSG_WAITALL);

	// It waits for the rest while nothing forbids to join it.
	pid_t child = MUST(fork());
	if (child == 0) {
		nap(50);
		write(p[0], "34", 2);
		nap(50);
		send_with(p[0], "56", 1);
		_exit(0);
	}
	MUST(write(p[0], "12", 2));
	take(p[1], 20, MSG_WAITALL);
	show_wait("child", child);

	// Two senders.
	MUST(setsockopt(p[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on));
	MUST(write(p[0], "me", 2));
	child = MUST(fork());
	if (child == 0) {
		write(p[0], "child", 5);
		_exit(0);
	}
	show_wait("child", child);
	take(p[1], 20, MSG_WAITALL);
	take(p[1], 5, MSG_WAITALL);
	MUST(write(p[0], "me", 2));
	child = MUST(fork());
	if (child == 0) {
		nap(50);
		write(p[0], "child", 5);
		_exit(0);
	}
	take(p[1], 20, MSG_WAITALL);
	show_wait("child", child);
	take(p[1], 5, MSG_WAITALL);

	// The credentials come with what there was, when the time is over.
	struct timeval limit = {0, 50000};
	MUST(setsockopt(p[1], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit));
	MUST(write(p[0], "me", 2));
	take(p[1], 20, MSG_WAITALL);

	// Peeking waits for the first bytes only.
	MUST(write(p[0], "peek", 4));
	take(p[1], 20, MSG_WAITALL | MSG_PEEK);
	take(p[1], 4, 0);

	// There is no queue of errors, and the flag means nothing.
	MUST(write(p[0], "errqueue", 8));
	take(p[1], 20, MSG_ERRQUEUE);
	SHOW(recv(p[1], (char[4]){0}, 4, MSG_OOB));
	return 0;
}
