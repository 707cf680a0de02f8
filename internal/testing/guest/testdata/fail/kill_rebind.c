// The port of a killed server: with its connections in TIME_WAIT only SO_REUSEADDR binds it again.
#include "kill.h"

static struct sockaddr_in a;
static int l;

static void act(void) { MUST(accept(l, NULL, NULL)); }

static void again(const char *how, int reuse)
{
	int s = MUST(socket(AF_INET, SOCK_STREAM, 0));
	MUST(setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse));
	printf("%s: ", how);
	SHOW(bind(s, (void *)&a, sizeof a));
	if (reuse)
		SHOW(listen(s, 1));
	close(s);
}

int main(void)
{
	char b[8];
	l = listener(&a);
	int c = MUST(socket(AF_INET, SOCK_STREAM, 0));
	MUST(fcntl(c, F_SETFL, O_NONBLOCK));
	connect(c, (void *)&a, sizeof a);
	pid_t v = victim(act);
	close(l);
	slay(v);
	again("the client still has its end", 0);
	wait_for("the client", c, POLLIN);
	SHOW(read(c, b, 8));
	close(c);
	nap(20);
	again("both are closed", 0);
	again("with SO_REUSEADDR", 1);
}
