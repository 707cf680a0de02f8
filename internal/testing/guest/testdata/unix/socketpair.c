// Pairs of sockets: both ways, end of file, errors.
#include "net.h"

int main(void)
{
	int p[2];
	char b[16] = {0};
	SHOW(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p));
	SHOW(fcntl(p[0], F_GETFD));
	SHOW(write(p[0], "ab", 2));
	SHOW(write(p[0], "cd", 2));
	SHOW(read(p[1], b, 16));
	printf("%s\n", b);
	SHOW(write(p[1], "back", 4));
	SHOW(recv(p[0], b, 2, MSG_PEEK));
	SHOW(recv(p[0], b, 16, 0));
	SHOW(shutdown(p[0], SHUT_WR));
	SHOW(read(p[1], b, 16));
	SHOW(write(p[1], "still", 5));
	close(p[1]);
	SHOW(read(p[0], b, 16));
	SHOW(read(p[0], b, 16));
	SHOW(send(p[0], "x", 1, MSG_NOSIGNAL));
	SHOW(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
	SHOW(write(p[0], "unread", 6));
	close(p[1]);
	SHOW(read(p[0], b, 16));
	SHOW(read(p[0], b, 16));
	SHOW(socketpair(AF_INET, SOCK_STREAM, 0, p));
	SHOW(socketpair(AF_UNIX, 99, 0, p));
	SHOW(socketpair(AF_UNIX, SOCK_STREAM, 0, NULL));
}
