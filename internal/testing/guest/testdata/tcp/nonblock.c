// Non-blocking accept, connect and read say "not now" with the right errno.
#include "net.h"

int main(void)
{
	struct sockaddr_in a;
	char b[8];
	int l = listener(&a), c;
	MUST(fcntl(l, F_SETFL, O_NONBLOCK));
	SHOW(accept(l, NULL, NULL));
	int s = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	wait_for("connecting", s, POLLOUT);
	printf("error %s\n", errname(so_error(s)));
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	wait_for("listener", l, POLLIN);
	SURE((c = accept(l, NULL, NULL)) >= 0);
	SHOW(read(s, b, 8));
	SHOW(fcntl(c, F_GETFL) & O_NONBLOCK);
	MUST(fcntl(c, F_SETFL, O_NONBLOCK));
	SHOW(recv(c, b, 8, 0));
	SHOW(write(s, "abc", 3));
	wait_for("accepted", c, POLLIN);
	SHOW(recv(c, b, 8, 0));
	SHOW(recv(c, b, 8, 0));
}
