// A pipe without readers: SIGPIPE kills, or EPIPE when ignored or handled.
#include "guest.h"

static volatile sig_atomic_t got;
static void handler(int sig) { got = sig; }

int main(void)
{
	int p[2];
	MUST(pipe(p));
	close(p[0]);
	pid_t child = fork();
	if (child == 0) {
		write(p[1], "x", 1);
		_exit(0);
	}
	show_wait("child", child);
	on(SIGPIPE, handler, 0);
	SHOW(write(p[1], "x", 1));
	SURE(got == SIGPIPE);
	signal(SIGPIPE, SIG_IGN);
	SHOW(write(p[1], "x", 1));
	SHOW(write(p[1], "", 0));
	struct pollfd f = {.fd = p[1], .events = POLLOUT};
	SHOW(poll(&f, 1, 0));
	printf("%s\n", events(f.revents));
}
