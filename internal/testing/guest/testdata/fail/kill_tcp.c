// The peer of a killed process reads what was sent, then the end; it may send once more.
#include "kill.h"

static int s[2];

static void act(void)
{
	close(s[1]);
	MUST(write(s[0], "hello", 5));
}

int main(void)
{
	char b[8];
	tcp_pair(s);
	pid_t v = victim(act);
	close(s[0]);
	slay(v);
	wait_for("after the kill", s[1], POLLIN | POLLOUT | POLLRDHUP);
	SHOW(read(s[1], b, 8));
	SHOW(read(s[1], b, 8));
	SHOW(send(s[1], "one", 3, MSG_NOSIGNAL));
	wait_for("after one write", s[1], POLLOUT | POLLRDHUP);
	printf("error %s\n", errname(so_error(s[1])));
	SHOW(send(s[1], "two", 3, MSG_NOSIGNAL));
	SHOW(read(s[1], b, 8));
	SHOW(shutdown(s[1], SHUT_RDWR));
}
