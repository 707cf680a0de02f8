// Datagrams between named and unnamed Unix sockets.
#include "net.h"

int main(void)
{
	struct sockaddr_un a, from;
	socklen_t n = sizeof from;
	int s = unix_bound(SOCK_DGRAM, "server"), c = unix_bound(SOCK_DGRAM, "client"), u = MUST(socket(AF_UNIX, SOCK_DGRAM, 0));
	char b[16] = {0};
	socklen_t an = unix_addr(&a, "server");
	SHOW(sendto(c, "named", 5, 0, (struct sockaddr *)&a, an));
	SHOW(recvfrom(s, b, 16, 0, (struct sockaddr *)&from, &n));
	printf("%s from %s\n", b, from.sun_path);
	SHOW(sendto(s, "reply", 5, 0, (struct sockaddr *)&from, n));
	SHOW(recv(c, b, 16, 0));
	SHOW(unix_connect(u, "server"));
	SHOW(send(u, "unnamed", 7, 0));
	n = sizeof from;
	SHOW(recvfrom(s, b, 3, 0, (struct sockaddr *)&from, &n));
	printf("name of %u bytes\n", n);
	SHOW(recv(s, b, 16, MSG_DONTWAIT));
	SHOW(sendto(c, "x", 1, 0, (struct sockaddr *)&a, unix_addr(&a, "missing")));
	close(s);
	SHOW(send(u, "x", 1, MSG_NOSIGNAL));
	SHOW(sendto(c, "x", 1, 0, (struct sockaddr *)&a, unix_addr(&a, "server")));
}
