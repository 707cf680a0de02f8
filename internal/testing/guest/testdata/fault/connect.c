// A connection is refused on its way, or what asks for it is lost. Arguments: which, how the client waits, and the
// port of a server or its name and port. Natively the client asks where nobody listens, or the server's
// queue is full.
#include "../two/two.h"

static int device; // 0: we are not under Ariadne

static void say(const char *line)
{
	if (device)
		MUST(write(device, line, strlen(line)));
}

static void serves(char **argv, int drops)
{
	struct stat st;
	int l = serve(argv), device = stat("/dev/ariadne", &st) == 0 && S_ISCHR(st.st_mode);
	if (drops && !device) {
		MUST(listen(l, 0));
		struct sockaddr_in a;
		socklen_t n = sizeof a;
		MUST(getsockname(l, (void *)&a, &n));
		int s = MUST(socket(AF_INET, SOCK_STREAM, 0));
		MUST(connect(s, (void *)&a, sizeof a));
		nap(1500);
		close(MUST(accept(l, NULL, NULL)));
	}
	int c = MUST(accept(l, NULL, NULL));
	char b[4];
	SHOW(read(c, b, 4));
}

static int waits(int s, const char *how)
{
	int e;
	socklen_t n = sizeof e;
	struct pollfd p = {s, POLLIN | POLLOUT | POLLRDHUP, 0};
	if (!strcmp(how, "block"))
		return 0;
	MUST(poll(&p, 1, 5000));
	printf("events %x\n", p.revents);
	MUST(getsockopt(s, SOL_SOCKET, SO_ERROR, &e, &n));
	printf("error %s\n", errname(e));
	return e;
}

int main(int argc, char **argv)
{
	int drops = !strcmp(argv[1], "lose");
	const char *how = argv[2];
	struct stat st;
	if (argc == 4) {
		serves(argv + 2, drops);
		return 0;
	}
	if (stat("/dev/ariadne", &st) == 0 && S_ISCHR(st.st_mode)) {
		device = MUST(open("/dev/ariadne", O_RDWR));
		MUST(write(device, "fault off\n", 10));
	}
	struct sockaddr_in a = resolve(argv + 2, atoi(argv[4])), none = a;
	nap(1000);
	if (!drops && !device) {
		socklen_t n = sizeof none;
		none.sin_port = 0;
		int s = MUST(socket(AF_INET, SOCK_STREAM, 0));
		MUST(bind(s, (void *)&none, sizeof none)); // nobody listens there
		MUST(getsockname(s, (void *)&none, &n));
	}
	say("fault on\n");
	int s = MUST(socket(AF_INET, SOCK_STREAM | (strcmp(how, "block") ? SOCK_NONBLOCK : 0), 0));
	struct timespec from, to;
	clock_gettime(CLOCK_MONOTONIC, &from);
	int r = connect(s, (void *)&none, sizeof none), e = r ? errno : 0;
	if (e != EINPROGRESS && !e == !drops)
		exit(0); // nothing has happened to it
	printf("connect %d %s\n", r, errname(e));
	e = e == EINPROGRESS ? waits(s, how) : e;
	clock_gettime(CLOCK_MONOTONIC, &to);
	long ms = (to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000;
	say("fault off\n");
	if (drops ? ms < 500 : !e)
		exit(0);
	printf("after %ld s\n", (ms + 200) / 1000);
	fcntl(s, F_SETFL, 0);
	while (!drops && SHOW(connect(s, (void *)&a, sizeof a))) // again, on the same socket
		;
	SHOW(write(s, "ab", 2));
	nap(500);
	exit(9);
}
