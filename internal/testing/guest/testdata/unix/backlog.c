// A full queue of connections: non-blocking connect says EAGAIN, a blocking one waits.
#include "net.h"

int main(void)
{
	int l = unix_bound(SOCK_STREAM, "sock"), made = 0, s;
	MUST(listen(l, 2));
	for (;;) {
		s = MUST(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
		if (unix_connect(s, "sock") < 0)
			break;
		made++;
	}
	printf("%d made, then %s\n", made, errname(errno));
	pid_t child = fork();
	if (child == 0) {
		nap(30);
		for (int i = 0; i <= made; i++)
			MUST(accept(l, NULL, NULL));
		_exit(0);
	}
	s = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
	SHOW(unix_connect(s, "sock"));
	show_wait("acceptor", child);
}
