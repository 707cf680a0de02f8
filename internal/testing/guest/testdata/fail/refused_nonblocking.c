// A connection that is refused while nobody waits for it: the error is told once.
#include "net.h"

int main(void)
{
	struct sockaddr_in a = unused();
	char b[4];
	for (int how = 0; how < 3; how++) {
		int s = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
		SURE(connect(s, (void *)&a, sizeof a) == -1 && (errno == EINPROGRESS || errno == ECONNREFUSED));
		wait_for("refused", s, POLLIN | POLLOUT);
		switch (how) {
		case 0:
			printf("%s then %s\n", errname(so_error(s)), errname(so_error(s)));
			SHOW(read(s, b, 4));
			SHOW(send(s, b, 4, MSG_NOSIGNAL));
			break;
		case 1:
			SHOW(read(s, b, 4));
			SHOW(read(s, b, 4));
			SHOW(send(s, b, 4, MSG_NOSIGNAL));
			break;
		case 2:
			SHOW(send(s, b, 4, MSG_NOSIGNAL));
			SHOW(send(s, b, 4, MSG_NOSIGNAL));
		}
		close(s);
	}
}
