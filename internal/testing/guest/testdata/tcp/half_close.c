// One side says that it sends no more, and still reads.
#include "net.h"

int main(void)
{
	int s[2];
	char b[16];
	tcp_pair(s);
	SHOW(write(s[0], "question", 8));
	SHOW(shutdown(s[0], SHUT_WR));
	SHOW(recv(s[1], b, 16, MSG_WAITALL));
	SHOW(read(s[1], b, 16));
	wait_for("half closed", s[1], POLLIN | POLLOUT | POLLRDHUP);
	SHOW(write(s[1], "answer", 6));
	SHOW(read(s[0], b, 16));
	SHOW(send(s[0], "more", 4, MSG_NOSIGNAL));
	SHOW(shutdown(s[1], SHUT_RDWR));
	SHOW(read(s[0], b, 16));
	wait_for("both closed", s[0], POLLIN | POLLOUT | POLLRDHUP);
	SHOW(shutdown(s[0], SHUT_WR));
	SHOW(shutdown(s[0], 9));
}
