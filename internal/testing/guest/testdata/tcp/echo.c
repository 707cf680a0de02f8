// A child serves one connection; the parent talks to it over loopback.
#include "net.h"

int main(void)
{
	struct sockaddr_in a, peer;
	socklen_t n = sizeof peer;
	int l = listener(&a);
	pid_t child = fork();
	if (child == 0) {
		char b[64];
		ssize_t r;
		int c = MUST(accept(l, (struct sockaddr *)&peer, &n));
		while ((r = read(c, b, sizeof b)) > 0)
			MUST(write(c, b, r));
		SHOW(r);
		printf("served %s\n", inet_ntoa(peer.sin_addr));
		_exit(7);
	}
	close(l);
	int s = dial(&a);
	for (int i = 0; i < 3; i++) {
		char b[64] = {0};
		SHOW(write(s, "hello", 5));
		SHOW(read(s, b, sizeof b));
		printf("got %s\n", b);
	}
	close(s);
	show_wait("server", child);
}
