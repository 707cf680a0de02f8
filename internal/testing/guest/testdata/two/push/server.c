// Pushes to a client that only polls, and closes.
#include "../two.h"
#include <sys/epoll.h>

int main(int argc, char **argv)
{
	int l = serve(argv), c = MUST(accept(l, NULL, NULL));
	for (int i = 0; i < 5; i++) {
		MUST(write(c, "12345" + i, 1));
		char ack;
		MUST(recv(c, &ack, 1, MSG_WAITALL));
		printf("%c acknowledged\n", ack);
	}
	close(c);
}
