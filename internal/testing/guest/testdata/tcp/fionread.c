// FIONREAD, SIOCOUTQ, FIONBIO and SIOCATMARK on a connection and on a listener.
#include "net.h"
#include <linux/sockios.h>

int main(void)
{
	int s[2], n = -1, one = 1;
	char b[8];
	struct sockaddr_in a;
	tcp_pair(s);
	SHOW(ioctl(s[1], FIONREAD, &n));
	SHOW(n);
	MUST(write(s[0], "0123456", 7));
	wait_for("sent", s[1], POLLIN);
	SHOW(ioctl(s[1], FIONREAD, &n));
	SHOW(n);
	SHOW(read(s[1], b, 3));
	SHOW(ioctl(s[1], SIOCINQ, &n));
	SHOW(n);
	SHOW(ioctl(s[0], SIOCOUTQ, &n));
	SHOW(n);
	SHOW(ioctl(s[1], FIONBIO, &one));
	SHOW(fcntl(s[1], F_GETFL) & O_NONBLOCK);
	SHOW(read(s[1], b, 8));
	SHOW(read(s[1], b, 8));
	SHOW(ioctl(s[1], SIOCATMARK, &n));
	SHOW(ioctl(listener(&a), FIONREAD, &n));
	SHOW(ioctl(s[1], TIOCGWINSZ, b));
	SHOW(ioctl(s[1], FIONREAD, NULL));
}
