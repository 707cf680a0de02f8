// A connection that is reset while a call is made on it. The client says what that call says, the one after,
// and what is left of the socket. With "both" there is a server that resets it; else somebody else has to.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *what, long r)
{
	printf("%s: %ld %s\n", what, r, r < 0 ? strerrorname_np(errno) : "");
	fflush(stdout);
}

static volatile sig_atomic_t broken;

static void on_pipe(int s) { broken++; }

static long make(const char *call, int s)
{
	char b[8] = "data";
	struct iovec v = {b, 4};
	struct msghdr h = {.msg_iov = &v, .msg_iovlen = 1};
	switch (call[0] == 'r' ? call[3] : call[0] == 's' ? call[4] + 1000 : call[5] + 2000) {
	case 'd': return call[4] ? readv(s, &v, 1) : read(s, b, 4);
	case 'v': return call[4] == 'f' ? recvfrom(s, b, 4, 0, 0, 0) : recvmsg(s, &h, 0);
	case 't' + 1000: return sendto(s, b, 4, 0, 0, 0);
	case 'm' + 1000: return sendmsg(s, &h, 0);
	case 2000: return write(s, b, 4);
	default: return writev(s, &v, 1);
	}
}

static int listening(struct sockaddr_in *a)
{
	int l = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t n = sizeof *a;
	if (bind(l, (struct sockaddr *)a, n) || listen(l, 1) || getsockname(l, (struct sockaddr *)a, &n))
		exit(1);
	return l;
}

static void serve(int l, int resets)
{
	char b[8];
	int s = accept(l, 0, 0);
	struct linger now = {1, 0};
	say("server reads", read(s, b, 1));
	if (resets) {
		setsockopt(s, SOL_SOCKET, SO_LINGER, &now, sizeof now);
		close(s);
		exit(0);
	}
	say("server reads", read(s, b, sizeof b));
	say("and then", read(s, b, sizeof b));
	exit(0);
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(9000), .sin_addr.s_addr = INADDR_ANY};
	int both = !strcmp(argv[1], "both");
	if (!strcmp(argv[1], "server"))
		serve(listening(&a), 0);
	if (both) {
		a = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
		int l = listening(&a);
		if (fork() == 0) {
			freopen("/dev/null", "w", stdout);
			serve(l, 1);
		}
		close(l);
	} else {
		a.sin_addr.s_addr = inet_addr("10.0.0.1");
	}
	const char *call = argv[2];
	signal(SIGPIPE, on_pipe);
	int s = socket(AF_INET, SOCK_STREAM, 0), e = 0;
	socklen_t n = sizeof e;
	say("connect", connect(s, (struct sockaddr *)&a, sizeof a));
	say("send", send(s, "x", 1, MSG_NOSIGNAL));
	if (both && call[0] != 'r')
		wait(0); // the RST has come
	say(call, make(call, s));
	struct pollfd p = {s, POLLIN | POLLOUT | POLLRDHUP};
	poll(&p, 1, 0);
	printf("ready for %x\n", p.revents);
	getsockopt(s, SOL_SOCKET, SO_ERROR, &e, &n);
	printf("SO_ERROR %d\n", e);
	say("again", make(call, s));
	say("read", recv(s, &e, 1, 0));
	say("write", send(s, "x", 1, 0));
	say("getpeername", getpeername(s, (struct sockaddr *)&a, &n));
	say("shutdown", shutdown(s, SHUT_RDWR));
	printf("%d SIGPIPE\n", broken);
	return 0;
}
