// A process that is killed with data it has not read resets the connection.
#include "kill.h"

static int s[2];

static void act(void)
{
	close(s[1]);
	MUST(write(s[0], "sent", 4));
}

int main(void)
{
	char b[8];
	tcp_pair(s);
	pid_t v = victim(act);
	close(s[0]);
	MUST(write(s[1], "never read", 10));
	nap(20);
	slay(v);
	wait_for("after the kill", s[1], POLLIN | POLLRDHUP);
	SHOW(read(s[1], b, 8));
	SHOW(read(s[1], b, 8));
	SHOW(send(s[1], "x", 1, MSG_NOSIGNAL));
	SHOW(shutdown(s[1], SHUT_WR));
}
