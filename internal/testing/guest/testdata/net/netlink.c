// A route netlink dump of links and addresses, by hand.
#include "../net.h"
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

static void dump(int s, int type, int seq)
{
	struct {
		struct nlmsghdr h;
		struct rtgenmsg g;
	} req = {{sizeof req, type, NLM_F_REQUEST | NLM_F_DUMP, seq, 0}, {AF_UNSPEC}};
	static char b[1 << 15];
	int done = 0, lo = 0, wrong = 0;
	MUST(send(s, &req, sizeof req, 0));
	while (!done) {
		int n = MUST(recv(s, b, sizeof b, 0));
		for (struct nlmsghdr *h = (void *)b; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
			wrong += h->nlmsg_seq != seq;
			if (h->nlmsg_type == NLMSG_DONE)
				done = 1;
			else if (h->nlmsg_type == RTM_NEWLINK)
				lo += ((struct ifinfomsg *)NLMSG_DATA(h))->ifi_index == 1;
			else if (h->nlmsg_type == RTM_NEWADDR)
				lo += ((struct ifaddrmsg *)NLMSG_DATA(h))->ifa_index == 1;
			else
				wrong++;
		}
	}
	printf("loopback seen %s, %d wrong\n", lo ? "yes" : "no", wrong);
}

int main(void)
{
	struct sockaddr_nl a = {.nl_family = AF_NETLINK};
	socklen_t n = sizeof a;
	int s = MUST(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
	SHOW(bind(s, (struct sockaddr *)&a, sizeof a));
	SHOW(getsockname(s, (struct sockaddr *)&a, &n));
	SURE(a.nl_pid != 0);
	dump(s, RTM_GETLINK, 1);
	dump(s, RTM_GETADDR, 2);
	char b[8];
	SHOW(recv(s, b, 8, MSG_DONTWAIT));
}
