// End of file comes when the last of several writers has closed.
#include "guest.h"

int main(void)
{
	int p[2];
	char b[8];
	MUST(pipe2(p, O_NONBLOCK));
	int d = dup(p[1]);
	close(p[1]);
	SHOW(read(p[0], b, 8));
	pid_t child = fork();
	if (child == 0) {
		nap(20);
		_exit(0);
	}
	close(d);
	SHOW(read(p[0], b, 8));
	show_wait("child", child);
	SHOW(read(p[0], b, 8));
}
