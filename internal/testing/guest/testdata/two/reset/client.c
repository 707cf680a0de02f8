// Resets, half closes, and is reset.
#include "../two.h"

int main(int argc, char **argv)
{
	struct linger z = {1, 0};
	char b[16];
	int s = reach(argv);
	SHOW(write(s, "one", 3));
	nap(50);
	MUST(setsockopt(s, SOL_SOCKET, SO_LINGER, &z, sizeof z));
	close(s);
	s = reach(argv);
	SHOW(write(s, "half", 4));
	SHOW(shutdown(s, SHUT_WR));
	SHOW(recv(s, b, 4, MSG_WAITALL));
	SHOW(read(s, b, 16));
	close(s);
	s = reach(argv);
	SHOW(write(s, "x", 1));
	SHOW(read(s, b, 16));
	SHOW(send(s, "x", 1, MSG_NOSIGNAL));
}
