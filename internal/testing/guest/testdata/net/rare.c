// Questions that few programs ask: addresses that are too long, interfaces without an address, random bits.
#include "guest.h"
#include <linux/random.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

int main(void)
{
	int u = MUST(socket(AF_INET, SOCK_DGRAM, 0)), s = MUST(socket(AF_INET, SOCK_STREAM, 0)), bits = 0;
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	SHOW(sendto(u, "x", 1, 0, (void *)&a, -1));
	SHOW(sendto(u, "x", 1, 0, (void *)&a, 129));
	SHOW(sendto(s, "x", 1, MSG_NOSIGNAL, (void *)&a, 129));
	SHOW(sendto(u, "x", 1, 0, NULL, -1));
	SHOW(sendto(99, "x", 1, 0, (void *)&a, -1));
	SHOW(ioctl(u, SIOCSIFFLAGS, NULL));
	SHOW(ioctl(u, SIOCSIFADDR, 8));
	SHOW(ioctl(u, SIOCGIFFLAGS, NULL));
	int r = MUST(open("/dev/urandom", O_RDONLY));
	SHOW(ioctl(r, RNDGETENTCNT, &bits));
	printf("%d\n", bits);
	SHOW(ioctl(r, RNDGETENTCNT, NULL));
	return 0;
}
