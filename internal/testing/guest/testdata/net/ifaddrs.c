// The loopback interface as getifaddrs, ioctl and sysfs tell it.
#include "../net.h"
#include <ifaddrs.h>

int main(void)
{
	struct ifaddrs *list;
	char b[INET6_ADDRSTRLEN];
	SHOW(getifaddrs(&list));
	for (struct ifaddrs *i = list; i; i = i->ifa_next) {
		if (strcmp(i->ifa_name, "lo") || !i->ifa_addr)
			continue;
		if (i->ifa_addr->sa_family == AF_INET) {
			printf("lo %s", inet_ntoa(((struct sockaddr_in *)i->ifa_addr)->sin_addr));
			printf(" mask %s\n", inet_ntoa(((struct sockaddr_in *)i->ifa_netmask)->sin_addr));
			printf("up %d, loopback %d, running %d\n", !!(i->ifa_flags & IFF_UP), !!(i->ifa_flags & IFF_LOOPBACK), !!(i->ifa_flags & IFF_RUNNING));
		}
		if (i->ifa_addr->sa_family == AF_INET6)
			printf("lo %s\n", inet_ntop(AF_INET6, &((struct sockaddr_in6 *)i->ifa_addr)->sin6_addr, b, sizeof b));
	}
	freeifaddrs(list);
	SHOW(if_nametoindex("lo"));
	printf("%s\n", if_indextoname(1, b));
	SHOW(if_nametoindex("none"));
	printf("%s\n", errname(errno));
	int s = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	struct ifreq r = {.ifr_name = "lo"};
	SHOW(ioctl(s, SIOCGIFADDR, &r));
	printf("%s\n", inet_ntoa(((struct sockaddr_in *)&r.ifr_addr)->sin_addr));
	SHOW(ioctl(s, SIOCGIFFLAGS, &r));
	SURE((r.ifr_flags & (IFF_UP | IFF_LOOPBACK)) == (IFF_UP | IFF_LOOPBACK));
	SHOW(ioctl(s, SIOCGIFINDEX, &r));
	SHOW(r.ifr_ifindex);
	SHOW(ioctl(s, SIOCGIFMTU, &r));
	strcpy(r.ifr_name, "none");
	SHOW(ioctl(s, SIOCGIFADDR, &r));
}
