// Descriptors that are under way to a killed process are closed with it.
#include "kill.h"

static int s[2];

static void act(void) { close(s[1]); }

int main(void)
{
	int p[2];
	char b[8], control[CMSG_SPACE(sizeof(int))] = {0};
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	pid_t v = victim(act);
	close(s[0]);
	MUST(pipe(p));
	struct iovec io = {"x", 1};
	struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);
	c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &p[1], sizeof(int));
	SHOW(sendmsg(s[1], &h, 0));
	close(p[1]);
	MUST(fcntl(p[0], F_SETFL, O_NONBLOCK));
	SHOW(read(p[0], b, 8));
	slay(v);
	wait_for("the pipe", p[0], POLLIN);
	SHOW(read(p[0], b, 8));
}
