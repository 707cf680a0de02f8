// An end of a connection hears nothing of the other one. Arguments: what ends it, and the port of a server
// or its name and port, or nothing else: natively both are in a network of their own, whose interface goes down.
// guest: root
#include "../two/two.h"
#include <sched.h>

static int native;

static void option(int s, int level, int name, int v) { MUST(setsockopt(s, level, name, &v, sizeof v)); }

static void interface(int up)
{
	struct ifreq r = {.ifr_name = "lo"};
	int s = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	MUST(ioctl(s, SIOCGIFFLAGS, &r));
	r.ifr_flags = up ? r.ifr_flags | IFF_UP : r.ifr_flags & ~IFF_UP;
	MUST(ioctl(s, SIOCSIFFLAGS, &r));
	close(s);
}

static void server(const char *what, char **argv)
{
	char b[16];
	int c = MUST(accept(serve(argv), NULL, NULL));
	if (native && !strcmp(what, "gone")) { // as if its machine had stopped: no word gets out
		nap(2000);
		struct linger l = {1, 0};
		MUST(setsockopt(c, SOL_SOCKET, SO_LINGER, &l, sizeof l));
		close(c);
		exit(0);
	}
	while (read(c, b, 16) > 0)
		;
	exit(0);
}

static void client(const char *what, char **argv)
{
	int s = reach(argv);
	char b[16];
	struct pollfd p = {s, POLLIN | POLLRDHUP, 0};
	if (!strcmp(what, "unacknowledged")) {
		option(s, IPPROTO_TCP, TCP_USER_TIMEOUT, 2000);
	} else {
		option(s, SOL_SOCKET, SO_KEEPALIVE, 1);
		option(s, IPPROTO_TCP, TCP_KEEPIDLE, 2);
		option(s, IPPROTO_TCP, TCP_KEEPINTVL, 1);
		option(s, IPPROTO_TCP, TCP_KEEPCNT, strcmp(what, "gone") ? 3 : 20);
	}
	if (!strcmp(what, "limited"))
		option(s, IPPROTO_TCP, TCP_USER_TIMEOUT, 4000);
	for (int i = 0; !(p.revents & POLLHUP); i++) {
		if (i == 15)
			exit(0); // nothing has happened to it
		if (!strcmp(what, "unacknowledged"))
			send(s, "x", 1, MSG_NOSIGNAL);
		MUST(poll(&p, 1, 1000));
	}
	printf("events %x\n", p.revents);
	SHOW(recv(s, b, 16, 0));
	SHOW(recv(s, b, 16, 0));
	SHOW(send(s, "y", 1, MSG_NOSIGNAL));
	exit(9);
}

int main(int argc, char **argv)
{
	const char *what = argv[1];
	if (argc == 3)
		server(what, argv + 1);
	if (argc == 4)
		client(what, argv + 1);
	native = 1;
	MUST(unshare(CLONE_NEWNET));
	interface(1);
	char *args[] = {"", "127.0.0.1", "7000"};
	pid_t a = MUST(fork());
	if (!a)
		server(what, args + 1);
	pid_t b = MUST(fork());
	if (!b)
		client(what, args);
	int status;
	nap(1300);
	interface(0);
	if (!strcmp(what, "gone")) {
		nap(3000);
		interface(1);
	}
	MUST(waitpid(b, &status, 0));
	kill(a, SIGKILL);
	return WEXITSTATUS(status);
}
