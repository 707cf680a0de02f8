// A stream server at a path.
#include "net.h"

int main(void)
{
	int l = unix_bound(SOCK_STREAM, "sock");
	char b[16] = {0};
	struct stat st;
	SHOW(listen(l, 4));
	SHOW(stat("sock", &st));
	SURE(S_ISSOCK(st.st_mode));
	pid_t child = fork();
	if (child == 0) {
		int c = MUST(accept(l, NULL, NULL));
		ssize_t n;
		while ((n = read(c, b, sizeof b)) > 0)
			MUST(write(c, b, n));
		_exit(3);
	}
	int s = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
	SHOW(unix_connect(s, "sock"));
	SHOW(write(s, "hello", 5));
	SHOW(recv(s, b, 5, MSG_WAITALL));
	printf("%s\n", b);
	struct sockaddr_un a;
	socklen_t n = sizeof a;
	SHOW(getpeername(s, (struct sockaddr *)&a, &n));
	printf("peer %s, %u bytes\n", a.sun_path, n);
	n = sizeof a;
	SHOW(getsockname(s, (struct sockaddr *)&a, &n));
	printf("own name has %u bytes\n", n);
	SHOW(shutdown(s, SHUT_WR));
	SHOW(read(s, b, 16));
	show_wait("server", child);
	SHOW(unlink("sock"));
	SHOW(unix_connect(MUST(socket(AF_UNIX, SOCK_STREAM, 0)), "sock"));
}
