// Control messages: the destination address of a datagram.
#include "net.h"

int main(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET}, to;
	socklen_t n = sizeof a;
	int s = MUST(socket(AF_INET, SOCK_DGRAM, 0)), c = MUST(socket(AF_INET, SOCK_DGRAM, 0)), on = 1;
	char b[8], ctl[256];
	MUST(bind(s, (struct sockaddr *)&a, sizeof a));
	MUST(getsockname(s, (struct sockaddr *)&a, &n));
	SHOW(setsockopt(s, IPPROTO_IP, IP_PKTINFO, &on, sizeof on));
	to = loopback(ntohs(a.sin_port));
	SHOW(sendto(c, "abc", 3, 0, (struct sockaddr *)&to, sizeof to));
	struct iovec v = {b, 8};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = ctl, .msg_controllen = sizeof ctl};
	SHOW(recvmsg(s, &m, 0));
	for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h))
		if (h->cmsg_level == IPPROTO_IP && h->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo *p = (void *)CMSG_DATA(h);
			printf("to %s, at interface %u\n", inet_ntoa(p->ipi_addr), p->ipi_ifindex);
		}
}
