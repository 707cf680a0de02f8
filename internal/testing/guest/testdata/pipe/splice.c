// splice between pipes, files and sockets; tee copies without taking.
#include "net.h"

int main(void)
{
	int p[2], q[2], s[2];
	char b[32] = {0};
	MUST(pipe(p));
	MUST(pipe(q));
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	int f = MUST(open("file", O_RDWR | O_CREAT, 0600));
	MUST(write(f, "0123456789", 10));
	off_t at = 2;
	SHOW(splice(f, &at, p[1], NULL, 5, 0));
	SHOW(at);
	SHOW(tee(p[0], q[1], 100, 0));
	SHOW(splice(p[0], NULL, s[0], NULL, 100, 0));
	SHOW(read(s[1], b, 32));
	printf("%s\n", b);
	memset(b, 0, sizeof b);
	at = 20;
	SHOW(splice(q[0], NULL, f, &at, 100, 0));
	SHOW(at);
	SHOW(pread(f, b, 32, 20));
	printf("%s\n", b);
	MUST(write(s[1], "socket", 6));
	SHOW(splice(s[0], NULL, p[1], NULL, 100, 0));
	SHOW(read(p[0], b, 32));
	SHOW(splice(p[0], NULL, q[1], NULL, 10, SPLICE_F_NONBLOCK));
	SHOW(tee(p[0], q[1], 10, SPLICE_F_NONBLOCK));
	SHOW(splice(f, NULL, f, NULL, 10, 0));
	SHOW(splice(p[0], &at, q[1], NULL, 10, 0));
	SHOW(tee(p[0], p[1], 10, 0));
	SHOW(tee(f, p[1], 10, 0));
	close(p[1]);
	SHOW(splice(p[0], NULL, q[1], NULL, 10, 0));
}
