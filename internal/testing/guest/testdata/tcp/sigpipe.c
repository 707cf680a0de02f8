// Writing to a connection that the writer has shut down raises SIGPIPE.
#include "net.h"

static volatile sig_atomic_t got;
static void pipe_handler(int sig) { got = sig; }

int main(void)
{
	int s[2];
	tcp_pair(s);
	pid_t child = fork();
	if (child == 0) {
		shutdown(s[0], SHUT_WR);
		write(s[0], "x", 1);
		printf("still here\n");
		_exit(0);
	}
	show_wait("child", child);
	on(SIGPIPE, pipe_handler, 0);
	SHOW(write(s[0], "x", 1));
	SURE(got == SIGPIPE);
	got = 0;
	SHOW(send(s[0], "x", 1, MSG_NOSIGNAL));
	SURE(got == 0);
	signal(SIGPIPE, SIG_IGN);
	SHOW(write(s[0], "x", 1));
}
