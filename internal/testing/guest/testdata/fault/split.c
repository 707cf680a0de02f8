// What was written to a connection at once arrives in two pieces. Arguments: the port of a server, or its name
// and port: natively the client writes the pieces one after the other.
#include "../two/two.h"

static void server(char **argv)
{
	int c = MUST(accept(serve(argv), NULL, NULL)), waiting, n = 0, reads = 0, k;
	char b[16] = "";
	struct pollfd p = {c, POLLIN | POLLRDHUP, 0};
	while (MUST(poll(&p, 1, -1)) && (MUST(ioctl(c, FIONREAD, &waiting)), k = MUST(recv(c, b + n, 16 - n, 0))) > 0) {
		printf("events %x, %d waiting, read %d\n", p.revents, waiting, k);
		n += k;
		reads++;
	}
	printf("events %x, all of it: %s\n", p.revents, b);
	exit(reads == 2 ? 9 : 0);
}

int main(int argc, char **argv)
{
	if (argc == 2)
		server(argv);
	int s = reach(argv), native = !strcmp(argv[1], "127.0.0.1");
	if (native) {
		MUST(send(s, "h", 1, 0));
		nap(200);
	}
	MUST(send(s, &"hello"[native], 5 - native, 0));
	nap(200);
	close(s);
	printf("sent\n");
	return 0;
}
