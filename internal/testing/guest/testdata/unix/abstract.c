// Names without a file: bound, found, gone with the socket; and autobind.
#include "net.h"

int main(void)
{
	struct sockaddr_un a;
	socklen_t n = sizeof a;
	int l = unix_bound(SOCK_STREAM, "@guest"), s = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
	char b[8];
	SHOW(listen(l, 1));
	SHOW(access("@guest", F_OK));
	SHOW(unix_connect(s, "@guest"));
	SHOW(getpeername(s, (struct sockaddr *)&a, &n));
	printf("%u bytes: %d, %.5s\n", n, a.sun_path[0], a.sun_path + 1);
	int t = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
	SHOW(bind(t, (struct sockaddr *)&a, unix_addr(&a, "@guest")));
	SHOW(unix_connect(t, "@gues"));
	int c = MUST(accept(l, NULL, NULL));
	SHOW(write(s, "x", 1));
	SHOW(read(c, b, 8));
	close(l);
	SHOW(unix_connect(t, "@guest"));
	SHOW(bind(t, (struct sockaddr *)&a, unix_addr(&a, "@guest")));

	int d = MUST(socket(AF_UNIX, SOCK_DGRAM, 0));
	sa_family_t f = AF_UNIX;
	SHOW(bind(d, (struct sockaddr *)&f, sizeof f));
	n = sizeof a;
	SHOW(getsockname(d, (struct sockaddr *)&a, &n));
	printf("autobind: %u bytes, first %d\n", n, a.sun_path[0]);
}
