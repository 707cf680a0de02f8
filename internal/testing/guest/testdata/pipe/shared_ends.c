// End of file comes when the last of several writers has closed.
#include "guest.h"

int main(void)
{
	int p[2], q[2];
	char b[8];
	MUST(pipe2(p, O_NONBLOCK));
	MUST(pipe(q));
	int d = dup(p[1]);
	close(p[1]);
	SHOW(read(p[0], b, 8));
	pid_t child = fork();
	if (child == 0) {
		MUST(read(q[0], b, 1));
		_exit(0);
	}
	close(d);
	SHOW(read(p[0], b, 8));
	MUST(write(q[1], "x", 1));
	show_wait("child", child);
	SHOW(read(p[0], b, 8));
}
