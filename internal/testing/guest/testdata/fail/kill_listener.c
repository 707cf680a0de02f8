// Connections that nobody has accepted are reset with the listener; later ones are refused.
#include "kill.h"

static struct sockaddr_in a;
static int l;

static void act(void) {}

int main(void)
{
	char b[8];
	l = listener(&a);
	pid_t v = victim(act);
	close(l);
	int first = dial(&a), second = dial(&a);
	SHOW(write(first, "early", 5));
	nap(20);
	slay(v);
	wait_for("with data sent", first, POLLIN | POLLRDHUP);
	wait_for("without", second, POLLIN | POLLRDHUP);
	SHOW(read(first, b, 8));
	SHOW(read(second, b, 8));
	SHOW(read(second, b, 8));
	int third = MUST(socket(AF_INET, SOCK_STREAM, 0));
	SHOW(connect(third, (void *)&a, sizeof a));
	SHOW(connect(third, (void *)&a, sizeof a));
}
