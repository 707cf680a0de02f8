// splice, tee and sendfile where a descriptor or its other end is closed, or open for the wrong thing.
#include "guest.h"
#include <sys/sendfile.h>
#include <sys/socket.h>

static void all(const char *what, int in, int out)
{
	puts(what);
	loff_t at = 0, far = 1 << 30, *none = 0, *offsets[] = {none, &at, &far};
	for (int n = 0; n < 2; n++)
		for (int f = 0; f < 3; f++) {
			printf("%d bytes, %u, %d\n", n * 5, SPLICE_F_NONBLOCK, f);
			SHOW(splice(in, offsets[f], out, 0, n * 5, SPLICE_F_NONBLOCK));
			SHOW(splice(in, 0, out, offsets[f], n * 5, SPLICE_F_NONBLOCK));
			SHOW(sendfile(out, in, offsets[f], n * 5));
			at = 0, far = 1 << 30;
		}
	SHOW(tee(in, out, 5, SPLICE_F_NONBLOCK));
	SHOW(splice(in, 0, out, 0, 5, -1));
}

int main(void)
{
	int p[2], q[2], s[2], t[2], closed = 900;
	signal(SIGPIPE, SIG_IGN);
	MUST(pipe2(p, O_NONBLOCK));
	MUST(pipe2(q, O_NONBLOCK));
	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s));
	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, t));
	int f = MUST(open("file", O_RDWR | O_CREAT, 0600)), r = MUST(open("file", O_RDONLY)), d = MUST(open(".", O_RDONLY));
	int path = MUST(open("file", O_PATH)), app = MUST(open("file", O_WRONLY | O_APPEND)), null = MUST(open("/dev/null", O_RDWR));
	MUST(write(f, "0123456789", 10));
	all("from nothing to a pipe", closed, p[1]);
	all("from a pipe to nothing", p[0], closed);
	all("from nothing to nothing", closed, closed);
	all("from a file to nothing", f, closed);
	all("from nothing to a file", closed, f);
	all("from what is open by O_PATH", path, p[1]);
	all("to what is open by O_PATH", p[0], path);
	all("from a pipe's wrong end", p[1], q[1]);
	all("to a pipe's wrong end", p[0], q[0]);
	all("from a directory", d, p[1]);
	MUST(write(p[1], "pipe", 4));
	all("to a directory", p[0], d);
	all("to what is open to read", p[0], r);
	all("to what is appended to", p[0], app);
	all("to /dev/null", f, null);
	all("from /dev/null", null, p[1]);
	all("from a file to a file", r, f);
	close(q[0]);
	all("to a pipe without a reader", f, q[1]);
	all("from a pipe to a pipe without a reader", p[0], q[1]);
	close(t[1]);
	all("to a socket without a peer", f, t[0]);
	all("from a pipe to a socket without a peer", p[0], t[0]);
	all("from a socket without a peer", t[0], p[1]);
	close(p[1]);
	int e[2];
	MUST(pipe2(e, O_NONBLOCK));
	all("from a pipe without a writer", p[0], e[1]);
	all("from it to a socket", p[0], s[0]);
}
