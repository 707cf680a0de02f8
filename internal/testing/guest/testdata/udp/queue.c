// Datagrams keep their order and their borders; FIONREAD tells the first one's size.
#include "net.h"

int main(void)
{
	struct sockaddr_in a;
	int s = bound(SOCK_DGRAM, &a), c = MUST(socket(AF_INET, SOCK_DGRAM, 0)), n;
	char b[16];
	for (int i = 1; i <= 5; i++)
		SHOW(sendto(c, "abcdefgh", i, 0, (struct sockaddr *)&a, sizeof a));
	for (int i = 1; i <= 5; i++) {
		MUST(ioctl(s, FIONREAD, &n));
		SHOW(n);
		SHOW(recv(s, b, sizeof b, 0));
	}
	SHOW(ioctl(s, FIONREAD, &n));
	SHOW(n);
	struct timeval tv = {0, 20000};
	MUST(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv));
	SHOW(recv(s, b, sizeof b, 0));
}
