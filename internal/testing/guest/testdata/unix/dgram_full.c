// A full datagram queue blocks the sender until the receiver reads.
#include "net.h"

int main(void)
{
	int p[2], sent = 0;
	char b[8];
	MUST(socketpair(AF_UNIX, SOCK_DGRAM, 0, p));
	while (send(p[0], "x", 1, MSG_DONTWAIT) == 1)
		sent++;
	printf("%s\n", errname(errno));
	SURE(sent >= 5);
	struct pollfd f = {.fd = p[0], .events = POLLOUT};
	SHOW(poll(&f, 1, 0));
	pid_t child = fork();
	if (child == 0) {
		nap(30);
		for (int i = 0; i <= sent; i++)
			MUST(recv(p[1], b, 8, 0));
		_exit(0);
	}
	SHOW(send(p[0], "x", 1, 0));
	show_wait("reader", child);
	SHOW(poll(&f, 1, 1000));
	printf("%s\n", events(f.revents));
}
