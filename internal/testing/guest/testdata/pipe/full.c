// A writer of more than fits waits for the reader.
#include "guest.h"

int main(void)
{
	int p[2];
	static char b[300000];
	MUST(pipe(p));
	pid_t child = fork();
	if (child == 0) {
		close(p[0]);
		ssize_t n = write(p[1], b, sizeof b);
		_exit(n == sizeof b ? 0 : 1);
	}
	close(p[1]);
	nap(20);
	long got = 0;
	ssize_t n;
	while ((n = read(p[0], b, 777)) > 0)
		got += n;
	SHOW(n);
	SHOW(got);
	show_wait("writer", child);
}
