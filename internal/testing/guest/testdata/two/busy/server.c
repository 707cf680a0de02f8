// A server that never waits in a call: it accepts and receives without blocking, again
// and again.
#include "../two.h"

int main(int argc, char **argv)
{
	char b[64];
	int l = serve(argv), s;
	MUST(fcntl(l, F_SETFL, O_NONBLOCK));
	while ((s = accept(l, NULL, NULL)) < 0)
		if (errno != EAGAIN)
			exit(1);
	for (int n = 0; n < 3; n++) {
		ssize_t r;
		while ((r = recv(s, b, sizeof b, MSG_DONTWAIT)) < 0)
			if (errno != EAGAIN)
				exit(1);
		printf("received %zd bytes\n", r);
		MUST(send(s, b, r, 0));
	}
}
