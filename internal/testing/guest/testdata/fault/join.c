// What was written to a connection one after the other arrives together: one read sees both, or both and the end.
// Arguments: all, few (bytes in a read) or end, and the port of a server, or its name and port. Natively the server looks
// late.
#include "../two/two.h"

static int native(void) { return access("/dev/ariadne", F_OK) != 0; }

static void server(char **argv)
{
	int c = MUST(accept(serve(argv + 1), NULL, NULL)), waiting, n = 0, k, together = 0;
	int few = !strcmp(argv[1], "few"), end = !strcmp(argv[1], "end");
	char b[16] = "";
	struct pollfd p = {c, POLLIN | POLLRDHUP, 0};
	if (native())
		nap(300);
	while (MUST(poll(&p, 1, -1)) && (MUST(ioctl(c, FIONREAD, &waiting)), k = MUST(recv(c, b + n, few ? 3 : 15 - n, 0))) > 0) {
		printf("events %x, %d waiting, read %d\n", p.revents, waiting, k);
		if (n == 0)
			together = end ? p.revents & POLLRDHUP : waiting == 5;
		n += k;
	}
	printf("events %x, all of it: %s\n", p.revents, b);
	exit(together ? 9 : 0);
}

int main(int argc, char **argv)
{
	if (argc == 3)
		server(argv);
	int s = reach(argv + 1), end = !strcmp(argv[1], "end");
	MUST(send(s, "he", 2, 0));
	usleep(native() ? 50000 : 100);
	if (!end) {
		MUST(send(s, "llo", 3, 0));
		nap(400);
	}
	close(s);
	printf("sent\n");
	return 0;
}
