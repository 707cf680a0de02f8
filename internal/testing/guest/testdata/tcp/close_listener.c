// Connections that were never accepted are reset when the listener goes.
#include "net.h"

int main(void)
{
	struct sockaddr_in a;
	char b[8];
	int l = listener(&a);
	int s = dial(&a);
	close(l);
	wait_for("abandoned", s, POLLIN);
	SHOW(read(s, b, 8));
	SHOW(read(s, b, 8));
	int t = MUST(socket(AF_INET, SOCK_STREAM, 0));
	SHOW(connect(t, (struct sockaddr *)&a, sizeof a));
}
