// A listening Unix socket that is shut down; whose credentials SO_PEERCRED shows;
// abstract names by type.
#include "net.h"

static void peer(const char *who, int s)
{
	struct ucred c = {-7, -7, -7};
	socklen_t n = sizeof c;
	SHOW(getsockopt(s, SOL_SOCKET, SO_PEERCRED, &c, &n));
	printf("%s: %s, user %d\n", who, c.pid == getpid() ? "me" : c.pid == 0 ? "nobody" : "another", (int)c.uid);
}

static void shut(int how)
{
	printf("shutdown %d\n", how);
	int l = unix_bound(SOCK_STREAM, "@shut"), s = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
	MUST(listen(l, 5));
	SHOW(unix_connect(s, "@shut"));
	SHOW(shutdown(l, how));
	wait_for("listener", l, POLLIN | POLLOUT | POLLRDHUP);
	int t = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
	SHOW(unix_connect(t, "@shut"));
	int a = accept(l, NULL, NULL);
	printf("accept %s\n", a < 0 ? errname(errno) : "ok");
	SHOW(write(s, "x", 1));
	if (how != SHUT_WR)
		SHOW(accept(l, NULL, NULL));
	MUST(fcntl(l, F_SETFL, O_NONBLOCK));
	SHOW(accept(l, NULL, NULL) >= 0);
	SHOW(listen(l, 5));
	struct sockaddr_un any = {AF_UNIX};
	SHOW(bind(l, (struct sockaddr *)&any, sizeof(sa_family_t)));
	socklen_t n = unix_addr(&any, "@other");
	SHOW(bind(l, (struct sockaddr *)&any, n));
	close(a), close(l), close(s), close(t);
}

int main(void)
{
	for (int how = 0; how < 3; how++)
		shut(how);

	int l = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
	peer("fresh", l);
	close(l);
	l = unix_bound(SOCK_STREAM, "@name");
	peer("bound", l);
	MUST(listen(l, 5));
	peer("listening", l);
	pid_t child = MUST(fork());
	if (child == 0) {
		int s = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
		SHOW(unix_connect(s, "@name"));
		peer("the client's", s);
		peer("the listener, to its child", l);
		fflush(stdout);
		_exit(0);
	}
	fflush(stdout);
	show_wait("child", child);
	int a = MUST(accept(l, NULL, NULL));
	peer("accepted", a);

	// The same abstract name again, for each type.
	int d = unix_bound(SOCK_DGRAM, "@name"), q = unix_bound(SOCK_SEQPACKET, "@name");
	MUST(listen(q, 1));
	for (int i = 0; i < 3; i++) {
		int type = (int[]){SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET}[i];
		int s = MUST(socket(AF_UNIX, type, 0));
		struct sockaddr_un u;
		socklen_t n = unix_addr(&u, "@name");
		SHOW(bind(s, (struct sockaddr *)&u, n));
		SHOW(unix_connect(s, "@name"));
		close(s);
	}
	close(d);
	d = MUST(socket(AF_UNIX, SOCK_DGRAM, 0));
	SHOW(unix_connect(d, "@name"));
	// A file is one name for all types.
	close(unix_bound(SOCK_STREAM, "file"));
	int f = unix_bound(SOCK_STREAM, "file2");
	MUST(listen(f, 1));
	SHOW(unix_connect(d, "file2"));
	SHOW(unix_connect(d, "file"));
	return 0;
}
