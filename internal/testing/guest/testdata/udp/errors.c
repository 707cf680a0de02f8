// Too long, no destination, no permission, no such address.
#include "net.h"

int main(void)
{
	struct sockaddr_in a, bad = loopback(0);
	static char big[70000];
	int s = bound(SOCK_DGRAM, &a);
	SHOW(send(s, "x", 1, 0));
	SHOW(write(s, "x", 1));
	SHOW(sendto(s, big, 65507, 0, (struct sockaddr *)&a, sizeof a));
	SHOW(recv(s, big, sizeof big, 0));
	SHOW(sendto(s, big, 65508, 0, (struct sockaddr *)&a, sizeof a));
	SHOW(sendto(s, big, 70000, 0, (struct sockaddr *)&a, sizeof a));
	SHOW(sendto(s, "x", 1, 0, (struct sockaddr *)&bad, sizeof bad));
	SHOW(sendto(s, "x", 1, 0, (struct sockaddr *)&a, 3));
	SHOW(sendto(s, "x", 1, MSG_OOB, (struct sockaddr *)&a, sizeof a));
	bad = a;
	bad.sin_family = AF_INET6;
	SHOW(sendto(s, "x", 1, 0, (struct sockaddr *)&bad, sizeof bad));
	bad.sin_family = AF_INET;
	bad.sin_addr.s_addr = INADDR_BROADCAST;
	SHOW(sendto(s, "x", 1, 0, (struct sockaddr *)&bad, sizeof bad));
	SHOW(listen(s, 1));
	SHOW(accept(s, NULL, NULL));
	SHOW(shutdown(s, SHUT_RD));
}
