// Asks for ports where nobody listens, before and after.
#include "../two.h"

int main(int argc, char **argv)
{
	char b[8];
	int s = reach(argv);
	SHOW(recv(s, b, 6, MSG_WAITALL));
	struct sockaddr_in a = resolve(argv, atoi(argv[2]));
	int t = MUST(socket(AF_INET, SOCK_STREAM, 0));
	SHOW(connect(t, (struct sockaddr *)&a, sizeof a));
	int n = MUST(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
	SHOW(connect(n, (struct sockaddr *)&a, sizeof a));
	wait_for("refused", n, POLLOUT);
	printf("error %s\n", errname(so_error(n)));
	SHOW(write(s, "bye", 3));
}
