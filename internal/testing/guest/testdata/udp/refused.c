// A connected UDP socket learns that nobody listens; an unconnected one does not.
#include "net.h"

int main(void)
{
	struct sockaddr_in a, own;
	char b[8];
	int gone = bound(SOCK_DGRAM, &a);
	close(gone);
	int s = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	SHOW(send(s, "x", 1, 0));
	wait_for("refused", s, POLLIN);
	SHOW(recv(s, b, 8, 0));
	SHOW(recv(s, b, 8, MSG_DONTWAIT));
	SHOW(send(s, "x", 1, 0));
	nap(20);
	SHOW(send(s, "x", 1, 0));
	SHOW(send(s, "x", 1, 0));
	nap(20);
	printf("error %s\n", errname(so_error(s)));
	int u = bound(SOCK_DGRAM, &own);
	SHOW(sendto(u, "x", 1, 0, (struct sockaddr *)&a, sizeof a));
	nap(20);
	SHOW(recv(u, b, 8, MSG_DONTWAIT));
}
