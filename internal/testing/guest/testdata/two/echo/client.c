// Talks to a server line by line.
#include "../two.h"

int main(int argc, char **argv)
{
	int s = reach(argv);
	struct sockaddr_in a = resolve(argv, atoi(argv[2])), p;
	socklen_t n = sizeof p;
	MUST(getpeername(s, (struct sockaddr *)&p, &n));
	SURE(p.sin_addr.s_addr == a.sin_addr.s_addr && p.sin_port == a.sin_port);
	for (int i = 0; i < 5; i++) {
		char out[32], in[32] = {0};
		int len = sprintf(out, "line %d\n", i);
		SHOW(write(s, out, len));
		SHOW(recv(s, in, len, MSG_WAITALL));
		printf("%s", in);
	}
	SHOW(shutdown(s, SHUT_WR));
	char b[8];
	SHOW(read(s, b, 8));
}
