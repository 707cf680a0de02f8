// Connections are made, and may send, before they are accepted.
#include "net.h"

int main(void)
{
	struct sockaddr_in a;
	int l = listener(&a), s[5];
	char b[8];
	for (int i = 0; i < 5; i++) {
		s[i] = dial(&a);
		MUST(write(s[i], "abcde" + i, 1));
	}
	close(s[2]);
	for (int i = 0; i < 5; i++) {
		int c = MUST(accept(l, NULL, NULL));
		ssize_t n = read(c, b, 8);
		printf("connection %d: %zd bytes, %c\n", i, n, *b);
		if (i == 2)
			SHOW(read(c, b, 8));
	}
	MUST(fcntl(l, F_SETFL, O_NONBLOCK));
	SHOW(accept(l, NULL, NULL));
}
