// SO_RCVTIMEO ends a blocked read and a blocked accept with EAGAIN, not before its time.
#include "net.h"

int main(void)
{
	int s[2];
	char b[8];
	struct timeval tv = {0, 30000};
	struct sockaddr_in a;
	tcp_pair(s);
	MUST(setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv));
	long t = now_ms();
	SHOW(read(s[0], b, 8));
	SURE(now_ms() - t >= 29);
	MUST(write(s[1], "now", 3));
	SHOW(read(s[0], b, 8));
	MUST(write(s[1], "part", 4));
	SHOW(recv(s[0], b, 8, MSG_WAITALL));
	int l = listener(&a);
	MUST(setsockopt(l, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv));
	SHOW(accept(l, NULL, NULL));
	MUST(setsockopt(s[1], SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv));
	static char big[1 << 16];
	ssize_t n;
	while ((n = write(s[1], big, sizeof big)) == sizeof big)
		;
	SURE(n > 0 || errno == EAGAIN);
	tv.tv_usec = 2000000;
	SHOW(setsockopt(l, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv));
}
