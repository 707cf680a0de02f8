// Multicast groups on loopback: who joins, who hears, and what is refused.
#include "net.h"

#define MCAST_JOIN_GROUP 42
#define MCAST_LEAVE_GROUP 45

static int member(struct sockaddr_in *at, const char *name)
{
	int s = MUST(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0)), on = 1;
	MUST(setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
	printf("bind %s: ", name);
	SHOW(bind(s, (struct sockaddr *)at, sizeof *at));
	return s;
}

static void hear(const char *who, int s)
{
	char b[16] = {0}, ctl[256];
	struct iovec v = {b, 15};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = ctl, .msg_controllen = sizeof ctl};
	while (recvmsg(s, &m, 0) >= 0) {
		printf("%s hears %s", who, b);
		for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h))
			if (h->cmsg_level == IPPROTO_IP && h->cmsg_type == IP_PKTINFO) {
				struct in_pktinfo *p = (void *)CMSG_DATA(h);
				printf(" to %s", inet_ntoa(p->ipi_addr));
				printf(" as %s", inet_ntoa(p->ipi_spec_dst));
				printf(" by %u", p->ipi_ifindex);
			}
		printf("\n");
		memset(b, 0, sizeof b);
		m.msg_controllen = sizeof ctl;
	}
}

int main(void)
{
	struct ip_mreq lo = {.imr_interface.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in any = {.sin_family = AF_INET}, group, local;
	socklen_t n = sizeof any;
	int on = 1, off = 0, tcp, one, all, picky, bound_, sender;
	struct in_addr got;
	inet_aton("239.7.8.9", &lo.imr_multiaddr);

	one = member(&any, "one");
	MUST(getsockname(one, (struct sockaddr *)&any, &n));
	all = member(&any, "all"), picky = member(&any, "picky");
	group = any, group.sin_addr = lo.imr_multiaddr;
	bound_ = member(&group, "to the group");
	MUST(setsockopt(one, IPPROTO_IP, IP_PKTINFO, &on, sizeof on));
	SHOW(setsockopt(picky, IPPROTO_IP, IP_MULTICAST_ALL, &off, sizeof off));

	sender = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	SHOW(setsockopt(sender, IPPROTO_IP, IP_MULTICAST_IF, &lo.imr_interface, sizeof lo.imr_interface));
	n = sizeof got;
	SHOW(getsockopt(sender, IPPROTO_IP, IP_MULTICAST_IF, &got, &n));
	printf("%s\n", inet_ntoa(got));
	SHOW(sendto(sender, "nobody", 6, 0, (struct sockaddr *)&group, sizeof group));
	hear("one", one), hear("all", all), hear("picky", picky), hear("bound", bound_);

	SHOW(setsockopt(one, IPPROTO_IP, IP_ADD_MEMBERSHIP, &lo, sizeof lo));
	SHOW(setsockopt(one, IPPROTO_IP, IP_ADD_MEMBERSHIP, &lo, sizeof lo));
	SHOW(sendto(sender, "joined", 6, 0, (struct sockaddr *)&group, sizeof group));
	hear("one", one), hear("all", all), hear("picky", picky), hear("bound", bound_);
	SHOW(setsockopt(picky, IPPROTO_IP, IP_ADD_MEMBERSHIP, &lo, sizeof lo));
	SHOW(sendto(sender, "picked", 6, 0, (struct sockaddr *)&group, sizeof group));
	hear("one", one), hear("picky", picky);
	SHOW(setsockopt(sender, IPPROTO_IP, IP_MULTICAST_LOOP, &off, sizeof off));
	SHOW(sendto(sender, "silent", 6, 0, (struct sockaddr *)&group, sizeof group));
	SHOW(setsockopt(sender, IPPROTO_IP, IP_MULTICAST_LOOP, &on, sizeof on));
	SHOW(connect(sender, (struct sockaddr *)&group, sizeof group));
	n = sizeof local;
	SHOW(getsockname(sender, (struct sockaddr *)&local, &n));
	printf("from %s\n", inet_ntoa(local.sin_addr));
	SHOW(send(sender, "connected", 9, 0));
	hear("one", one);
	SHOW(setsockopt(one, IPPROTO_IP, IP_DROP_MEMBERSHIP, &lo, sizeof lo));
	SHOW(setsockopt(one, IPPROTO_IP, IP_DROP_MEMBERSHIP, &lo, sizeof lo));
	SHOW(close(picky));
	SHOW(send(sender, "left", 4, 0));
	hear("one", one);

	// What is refused.
	SHOW(setsockopt(one, IPPROTO_IP, IP_ADD_MEMBERSHIP, &lo, 7));
	SHOW(setsockopt(one, IPPROTO_IP, IP_ADD_MEMBERSHIP, &(struct ip_mreq){lo.imr_interface, lo.imr_interface}, sizeof lo));
	SHOW(setsockopt(one, IPPROTO_IP, IP_ADD_MEMBERSHIP, &(struct ip_mreqn){lo.imr_multiaddr, {0}, 77}, sizeof(struct ip_mreqn)));
	SHOW(setsockopt(one, IPPROTO_IP, IP_ADD_MEMBERSHIP, &(struct ip_mreq){lo.imr_multiaddr, lo.imr_multiaddr}, sizeof lo));
	SHOW(setsockopt(one, IPPROTO_IP, IP_MULTICAST_IF, &lo, 3));
	SHOW(setsockopt(one, IPPROTO_IP, IP_MULTICAST_IF, &lo.imr_multiaddr, 4));
	SHOW(setsockopt(one, IPPROTO_IP, IP_MULTICAST_IF, &(struct ip_mreqn){lo.imr_multiaddr, {0}, 1}, sizeof(struct ip_mreqn)));
	struct group_req r = {.gr_interface = 1};
	memcpy(&r.gr_group, &group, sizeof group);
	SHOW(setsockopt(one, IPPROTO_IP, MCAST_JOIN_GROUP, &r, sizeof r));
	SHOW(setsockopt(one, IPPROTO_IP, MCAST_JOIN_GROUP, &r, 8));
	SHOW(send(sender, "requested", 9, 0));
	hear("one", one);
	SHOW(setsockopt(one, IPPROTO_IP, MCAST_LEAVE_GROUP, &r, sizeof r));
	for (int i = 0; i < 21; i++) {
		lo.imr_multiaddr.s_addr = htonl(0xefaa0000 + i);
		if (setsockopt(one, IPPROTO_IP, IP_ADD_MEMBERSHIP, &lo, sizeof lo) < 0)
			printf("group %d: %s\n", i, errname(errno));
	}
	tcp = MUST(socket(AF_INET, SOCK_STREAM, 0));
	SHOW(setsockopt(tcp, IPPROTO_IP, IP_ADD_MEMBERSHIP, &lo, sizeof lo));
	SHOW(setsockopt(tcp, IPPROTO_IP, IP_MULTICAST_IF, &lo.imr_interface, 4));
	SHOW(setsockopt(tcp, IPPROTO_IP, MCAST_JOIN_GROUP, &r, sizeof r));
}
