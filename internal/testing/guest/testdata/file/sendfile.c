// Files onto sockets, pipes and files, and copies between files.
#include "net.h"
#include <sys/sendfile.h>

int main(void)
{
	int s[2], t[2], p[2], in = MUST(open("in", O_RDWR | O_CREAT, 0600)), out = MUST(open("out", O_RDWR | O_CREAT, 0600));
	char b[32] = {0};
	off_t at = 3;
	MUST(pipe(p));
	tcp_pair(s);
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, t));
	MUST(write(in, "0123456789", 10));
	SHOW(sendfile(s[0], in, &at, 4));
	SHOW(at);
	SHOW(recv(s[1], b, 4, MSG_WAITALL));
	printf("%s\n", b);
	SHOW(sendfile(t[0], in, NULL, 4));
	SHOW(lseek(in, 0, SEEK_SET));
	SHOW(sendfile(t[0], in, NULL, 100));
	SHOW(lseek(in, 0, SEEK_CUR));
	SHOW(read(t[1], b, 32));
	at = 0;
	SHOW(sendfile(out, in, &at, 5));
	SHOW(sendfile(p[1], in, &at, 5));
	SHOW(read(p[0], b, 32));
	SHOW(sendfile(out, p[0], NULL, 5));
	SHOW(sendfile(in, out, (off_t *)8, 5));
	loff_t from = 2, to = 20;
	SHOW(copy_file_range(in, &from, out, &to, 3, 0));
	SHOW(from);
	SHOW(to);
	SHOW(pread(out, b, 32, 20));
	SHOW(copy_file_range(in, &from, out, &to, 100, 0));
	SHOW(copy_file_range(in, &from, out, &to, 100, 0));
	SHOW(copy_file_range(in, NULL, out, NULL, 5, 7));
	SHOW(copy_file_range(in, NULL, p[1], NULL, 5, 0));
	SHOW(sendfile(out, 0x1000, (off_t *)8, 5));
	SHOW(sendfile(0x1000, in, (off_t *)8, 5));
	int dir = MUST(open(".", O_RDONLY | O_DIRECTORY)), null = MUST(open("/dev/null", O_WRONLY));
	SHOW(sendfile(null, dir, NULL, 0));
	SHOW(sendfile(null, dir, NULL, 1));
	shutdown(t[1], SHUT_RD);
	close(t[1]);
	signal(SIGPIPE, SIG_IGN);
	at = 0;
	SHOW(sendfile(t[0], in, &at, 5));
}
