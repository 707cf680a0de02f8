// Unix sockets in the wrong state, at the wrong path or of the wrong type.
#include "net.h"

int main(void)
{
	struct sockaddr_un a;
	int l = unix_bound(SOCK_STREAM, "sock"), s = MUST(socket(AF_UNIX, SOCK_STREAM, 0)), d = MUST(socket(AF_UNIX, SOCK_DGRAM, 0));
	char b[8];
	SHOW(unix_connect(s, "sock"));
	SHOW(unix_connect(s, "missing"));
	close(MUST(open("file", O_CREAT | O_RDWR, 0600)));
	SHOW(unix_connect(s, "file"));
	SHOW(open("sock", O_RDWR));
	SHOW(listen(l, 1));
	SHOW(unix_connect(d, "sock"));
	SHOW(bind(l, (struct sockaddr *)&a, unix_addr(&a, "other")));
	SHOW(bind(s, (struct sockaddr *)&a, unix_addr(&a, "sock")));
	SHOW(bind(s, (struct sockaddr *)&a, unix_addr(&a, "no/such/dir")));
	SHOW(accept(s, NULL, NULL));
	SHOW(listen(d, 1));
	SHOW(listen(s, 1));
	SHOW(read(s, b, 8));
	SHOW(send(s, "x", 1, MSG_NOSIGNAL));
	SHOW(send(d, "x", 1, MSG_NOSIGNAL));
	SHOW(unix_connect(s, "sock"));
	SHOW(unix_connect(s, "sock"));
	close(l);
	wait_for("abandoned", s, POLLIN);
	SHOW(read(s, b, 8));
	SHOW(unix_connect(MUST(socket(AF_UNIX, SOCK_STREAM, 0)), "sock"));
	SHOW(unix_connect(MUST(socket(AF_UNIX, SOCK_STREAM, 0)), "@none"));
}
