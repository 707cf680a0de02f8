// Unix sockets of a killed process: the end, a reset where data was left, a name that stays.
#include "kill.h"

static int s[2], l;

static void nothing_left(void) { close(s[1]); MUST(write(s[0], "bye", 3)); }
static void unread(void) { close(s[1]); }
static void listens(void) { l = unix_bound(SOCK_STREAM, "name"); MUST(listen(l, 4)); }
static void receives(void) { unix_bound(SOCK_DGRAM, "dgram"); }

int main(void)
{
	char b[8];
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	pid_t v = victim(nothing_left);
	close(s[0]);
	slay(v);
	wait_for("read all", s[1], POLLIN | POLLRDHUP);
	SHOW(read(s[1], b, 8));
	SHOW(read(s[1], b, 8));
	SHOW(send(s[1], "x", 1, MSG_NOSIGNAL));
	close(s[1]);

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	v = victim(unread);
	close(s[0]);
	MUST(write(s[1], "left", 4));
	slay(v);
	wait_for("left some", s[1], POLLIN | POLLRDHUP);
	SHOW(read(s[1], b, 8));
	SHOW(read(s[1], b, 8));
	SHOW(send(s[1], "x", 1, MSG_NOSIGNAL));

	v = victim(listens);
	int c = MUST(socket(AF_UNIX, SOCK_STREAM, 0)), d = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
	SHOW(unix_connect(c, "name"));
	slay(v);
	wait_for("never accepted", c, POLLIN | POLLRDHUP);
	SHOW(read(c, b, 8));
	SHOW(unix_connect(d, "name"));
	SHOW(access("name", F_OK));
	struct sockaddr_un a;
	socklen_t n = unix_addr(&a, "name");
	int e = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
	SHOW(bind(e, (void *)&a, n));
	SHOW(unlink("name"));
	SHOW(bind(e, (void *)&a, n));

	v = victim(receives);
	int g = MUST(socket(AF_UNIX, SOCK_DGRAM, 0));
	SHOW(unix_connect(g, "dgram"));
	SHOW(send(g, "x", 1, 0));
	slay(v);
	SHOW(send(g, "x", 1, 0));
	SHOW(send(g, "x", 1, 0));
	SHOW(unix_connect(g, "dgram"));
}
