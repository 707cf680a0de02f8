// The network between the ends of a connection is slow. Arguments: the port of a server or its name and port, or
// none: natively both are in a network of their own, which has hardly any bandwidth after a while.
// guest: root
#include "../two/two.h"
#include <sched.h>

static void interface(void)
{
	struct ifreq r = {.ifr_name = "lo"};
	int s = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	MUST(ioctl(s, SIOCGIFFLAGS, &r));
	r.ifr_flags |= IFF_UP;
	MUST(ioctl(s, SIOCSIFFLAGS, &r));
	close(s);
}

static void server(char **argv)
{
	char b[16];
	int c = MUST(accept(serve(argv), NULL, NULL));
	for (ssize_t n; (n = read(c, b, 16)) > 0;)
		send(c, b, n, MSG_NOSIGNAL);
	exit(0);
}

static void client(char **argv)
{
	int s = reach(argv), limit = 50000, error;
	char b[16];
	struct pollfd p = {s, POLLIN, 0};
	socklen_t n = sizeof error;
	MUST(setsockopt(s, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit));
	for (int i = 0;; i++) {
		if (i == 15)
			exit(0); // nothing has happened to it
		MUST(send(s, "x", 1, MSG_NOSIGNAL));
		if (poll(&p, 1, 1000) == 0)
			break;
		MUST(recv(s, b, 16, 0));
		nap(300);
	}
	SHOW(send(s, "yz", 2, MSG_NOSIGNAL)); // it is late, and comes behind
	for (int got = 0; got < 3;) {
		int n = MUST(poll(&p, 1, 40000));
		if (n == 0 || (n = MUST(recv(s, b + got, 16 - got, 0))) == 0)
			break;
		got += n;
		b[got] = 0;
	}
	printf("at last %s\n", b);
	MUST(shutdown(s, SHUT_WR));
	MUST(poll(&p, 1, 40000));
	printf("events %x\n", p.revents);
	SHOW(recv(s, b, 16, 0));
	MUST(getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &n));
	printf("error %d\n", error);
	exit(9);
}

int main(int argc, char **argv)
{
	if (argc == 2)
		server(argv);
	if (argc == 3)
		client(argv);
	MUST(unshare(CLONE_NEWNET));
	interface();
	char *args[] = {"", "127.0.0.1", "7000"};
	pid_t a = MUST(fork());
	if (!a)
		server(args + 1);
	pid_t b = MUST(fork());
	if (!b)
		client(args);
	int status;
	nap(1300);
	if (system("tc qdisc add dev lo root tbf rate 1kbit burst 200 limit 100000") != 0) {
		kill(b, SIGKILL);
		kill(a, SIGKILL);
		return 0;
	}
	MUST(waitpid(b, &status, 0));
	kill(a, SIGKILL);
	return WEXITSTATUS(status);
}
