// Joins a group on all interfaces and answers each new question once it has come to the group.
#include "../two.h"
#include <ifaddrs.h>

int main(int argc, char **argv)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))}, from;
	struct ip_mreq m;
	struct ifaddrs *all;
	char b[100], last = 0;
	int s = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	MUST(bind(s, (struct sockaddr *)&a, sizeof a));
	inet_aton("239.1.2.3", &m.imr_multiaddr);
	MUST(getifaddrs(&all));
	for (struct ifaddrs *i = all; i; i = i->ifa_next)
		if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET) {
			m.imr_interface = ((struct sockaddr_in *)i->ifa_addr)->sin_addr;
			MUST(setsockopt(s, IPPROTO_IP, IP_ADD_MEMBERSHIP, &m, sizeof m));
		}
	while (last != '3') {
		socklen_t n = sizeof from;
		int k = MUST(recvfrom(s, b, sizeof b, 0, (struct sockaddr *)&from, &n));
		if (b[0] != last)
			printf("%.*s\n", k, b);
		last = b[0];
		MUST(sendto(s, b, k, 0, (struct sockaddr *)&from, n));
	}
}
