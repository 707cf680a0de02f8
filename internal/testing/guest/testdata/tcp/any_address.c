// 0.0.0.0 as a destination is this machine; a listener is bound by listen itself.
#include "net.h"

int main(void)
{
	struct sockaddr_in a = {0}, p;
	socklen_t n = sizeof a;
	int l = MUST(socket(AF_INET, SOCK_STREAM, 0));
	SHOW(listen(l, 3));
	SHOW(getsockname(l, (struct sockaddr *)&a, &n));
	printf("%s, port %s\n", inet_ntoa(a.sin_addr), a.sin_port ? "set" : "0");
	int s = MUST(socket(AF_INET, SOCK_STREAM, 0));
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	n = sizeof p;
	MUST(getpeername(s, (struct sockaddr *)&p, &n));
	printf("peer %s\n", inet_ntoa(p.sin_addr));
	int t = MUST(socket(AF_INET, SOCK_STREAM, 0));
	struct sockaddr_in other = loopback(ntohs(a.sin_port));
	other.sin_addr.s_addr = htonl(0x7f010203);
	SHOW(connect(t, (struct sockaddr *)&other, sizeof other));
	n = sizeof p;
	MUST(getsockname(t, (struct sockaddr *)&p, &n));
	printf("own %s\n", inet_ntoa(p.sin_addr));
}
