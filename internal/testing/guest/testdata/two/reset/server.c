// Meets a client that resets, one that half closes, and one that is reset.
#include "../two.h"

int main(int argc, char **argv)
{
	int l = serve(argv), c = MUST(accept(l, NULL, NULL));
	char b[16];
	SHOW(read(c, b, 16));
	wait_for("reset", c, POLLIN);
	SHOW(read(c, b, 16));
	close(c);
	c = MUST(accept(l, NULL, NULL));
	SHOW(recv(c, b, 4, MSG_WAITALL));
	SHOW(read(c, b, 16));
	SHOW(write(c, "late", 4));
	close(c);
	c = MUST(accept(l, NULL, NULL));
	wait_for("third", c, POLLIN);
	struct linger z = {1, 0};
	MUST(setsockopt(c, SOL_SOCKET, SO_LINGER, &z, sizeof z));
	close(c);
}
