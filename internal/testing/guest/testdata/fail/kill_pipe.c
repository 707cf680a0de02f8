// Pipes of a killed process: readers come to the end, writers fail.
#include "kill.h"

static int p[2], q[2];

static void act(void)
{
	close(p[0]);
	close(q[1]);
	MUST(write(p[1], "last words", 10));
}

int main(void)
{
	char b[32];
	MUST(pipe(p));
	MUST(pipe(q));
	pid_t v = victim(act);
	close(p[1]);
	close(q[0]);
	SHOW(write(q[1], "never read", 10));
	slay(v);
	wait_for("reader", p[0], POLLIN);
	SHOW(read(p[0], b, 32));
	wait_for("reader", p[0], POLLIN);
	SHOW(read(p[0], b, 32));
	wait_for("writer", q[1], POLLOUT);
	signal(SIGPIPE, SIG_IGN);
	SHOW(write(q[1], "x", 1));
	signal(SIGPIPE, SIG_DFL);
	pid_t w = MUST(fork());
	if (!w) {
		write(q[1], "x", 1);
		_exit(0);
	}
	show_wait("who writes", w);
}
