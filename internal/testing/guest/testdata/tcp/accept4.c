// accept4 sets the flags of the new descriptor, and refuses unknown ones.
#include "net.h"

int main(void)
{
	struct sockaddr_in a;
	int l = listener(&a), c;
	MUST(fcntl(l, F_SETFL, O_NONBLOCK));
	for (int i = 0; i < 3; i++)
		dial(&a);
	wait_for("listener", l, POLLIN);
	c = MUST(accept4(l, NULL, NULL, SOCK_CLOEXEC));
	printf("cloexec %d, nonblock %d\n", fcntl(c, F_GETFD) & FD_CLOEXEC, !!(fcntl(c, F_GETFL) & O_NONBLOCK));
	c = MUST(accept4(l, NULL, NULL, SOCK_NONBLOCK));
	printf("cloexec %d, nonblock %d\n", fcntl(c, F_GETFD) & FD_CLOEXEC, !!(fcntl(c, F_GETFL) & O_NONBLOCK));
	c = MUST(accept(l, NULL, NULL));
	printf("cloexec %d, nonblock %d\n", fcntl(c, F_GETFD) & FD_CLOEXEC, !!(fcntl(c, F_GETFL) & O_NONBLOCK));
	SHOW(accept4(l, NULL, NULL, 1));
	SHOW(accept(c, NULL, NULL));
	SHOW(accept(0x1000, NULL, NULL));
	SHOW(accept(open("/dev/null", O_RDONLY), NULL, NULL));
	SHOW(socket(AF_INET, SOCK_STREAM | 0x40, 0));
	SHOW(socket(AF_INET, 77, 0));
	SHOW(socket(AF_INET, SOCK_STREAM, IPPROTO_UDP));
	SHOW(socket(99, SOCK_STREAM, 0));
}
