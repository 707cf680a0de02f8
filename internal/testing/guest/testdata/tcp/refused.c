// Nobody listens: blocking and non-blocking connect are refused.
#include "net.h"

int main(void)
{
	struct sockaddr_in a = unused();
	int s = MUST(socket(AF_INET, SOCK_STREAM, 0));
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	printf("error %s\n", errname(so_error(s)));
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	int n = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
	SHOW(connect(n, (struct sockaddr *)&a, sizeof a));
	wait_for("refused", n, POLLIN | POLLOUT);
	printf("error %s\n", errname(so_error(n)));
	printf("error %s\n", errname(so_error(n)));
	SHOW(send(n, "x", 1, MSG_NOSIGNAL));
}
