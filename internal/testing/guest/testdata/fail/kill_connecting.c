// A process is killed after it has connected and before the server accepts.
#include "kill.h"

static struct sockaddr_in a;
static int l;

static void act(void)
{
	int s = dial(&a);
	MUST(write(s, "bye", 3));
}

int main(void)
{
	char b[8];
	l = listener(&a);
	slay(victim(act));
	nap(20);
	wait_for("the listener", l, POLLIN);
	int s = SHOW(accept(l, NULL, NULL) >= 0 ? 1 : -1);
	(void)s;
	int c = dial(&a); // the descriptor after the accepted one
	int peer = MUST(accept(l, NULL, NULL));
	SHOW(read(c - 1, b, 8));
	SHOW(read(c - 1, b, 8));
	close(peer);
	SHOW(read(c, b, 8));
}
