// A stream fills up, and its writer blocks until it is read.
#include "net.h"

int main(void)
{
	int p[2];
	static char b[1 << 15];
	long sent = 0, got = 0;
	ssize_t n;
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
	while ((n = send(p[0], b, sizeof b, MSG_DONTWAIT)) > 0)
		sent += n;
	printf("%s\n", errname(errno));
	SURE(sent > 50000);
	pid_t child = fork();
	if (child == 0) {
		close(p[0]);
		nap(30);
		while ((n = read(p[1], b, 1000)) > 0)
			got += n;
		_exit(got == sent + 100000 ? 0 : 1);
	}
	close(p[1]);
	for (long left = 100000; left > 0; left -= n)
		n = MUST(write(p[0], b, left < (long)sizeof b ? left : (long)sizeof b));
	close(p[0]);
	show_wait("reader", child);
}
