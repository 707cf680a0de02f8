// Closing with unread data, or with a linger of zero, resets the connection.
#include "net.h"

static void linger_zero(void)
{
	int s[2];
	char b[8];
	struct linger l = {1, 0};
	tcp_pair(s);
	MUST(setsockopt(s[0], SOL_SOCKET, SO_LINGER, &l, sizeof l));
	close(s[0]);
	wait_for("after linger 0", s[1], POLLIN | POLLOUT);
	SHOW(read(s[1], b, 8));
	SHOW(read(s[1], b, 8));
	SHOW(send(s[1], "x", 1, MSG_NOSIGNAL));
}

static void unread(void)
{
	int s[2];
	char b[8];
	tcp_pair(s);
	MUST(write(s[1], "unread", 6));
	wait_for("before", s[0], POLLIN);
	close(s[0]);
	wait_for("after unread", s[1], POLLIN | POLLRDHUP);
	printf("error %s\n", errname(so_error(s[1])));
	SHOW(read(s[1], b, 8));
}

static void write_after_close(void)
{
	int s[2];
	char b[8];
	tcp_pair(s);
	close(s[0]);
	wait_for("closed", s[1], POLLIN);
	SHOW(send(s[1], "one", 3, MSG_NOSIGNAL));
	wait_for("reset", s[1], 0);
	SHOW(send(s[1], "two", 3, MSG_NOSIGNAL));
	SHOW(read(s[1], b, 8));
}

int main(void)
{
	linger_zero();
	unread();
	write_after_close();
}
