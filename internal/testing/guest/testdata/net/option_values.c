// Socket options that every kind of socket is asked for and told, with several lengths and values.
#include "net.h"

enum { INET = 7, KINDS = 12 };

static const char *const names[KINDS] = {"tcp", "tcp6", "tcp connected", "tcp listener", "udp", "udp6", "udp bound",
	"unix stream", "unix pair", "unix dgram", "seqpacket", "netlink"};

static int other; // the other end, or -1

static int make(int k)
{
	struct sockaddr_in a;
	int p[2];
	other = -1;
	switch (k) {
	case 0: return MUST(socket(AF_INET, SOCK_STREAM, 0));
	case 1: return MUST(socket(AF_INET6, SOCK_STREAM, 0));
	case 2:
		tcp_pair(p);
		other = p[1];
		return p[0];
	case 3: return listener(&a);
	case 4: return MUST(socket(AF_INET, SOCK_DGRAM, 0));
	case 5: return MUST(socket(AF_INET6, SOCK_DGRAM, 0));
	case 6: return bound(SOCK_DGRAM, &a);
	case 7: return MUST(socket(AF_UNIX, SOCK_STREAM, 0));
	case 8:
		MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
		other = p[1];
		return p[0];
	case 9: return MUST(socket(AF_UNIX, SOCK_DGRAM, 0));
	case 10: return MUST(socket(AF_UNIX, SOCK_SEQPACKET, 0));
	case 11: return MUST(socket(AF_NETLINK, SOCK_RAW, 0));
	}
	return -1;
}

static void set(int level, int opt)
{
	for (int k = 0; k < (level == SOL_SOCKET ? KINDS : INET); k++) {
		printf("  %s:", names[k]);
		static const int lens[] = {0, 1, 4, 4, 4, 4, 8, 16}, vals[] = {1, 1, 0, 1, -1, 70000, 1, 1};
		for (int i = 0; i < 8; i++) {
			int fd = make(k);
			int v[8] = {vals[i], vals[i], vals[i]};
			int r = setsockopt(fd, level, opt, v, lens[i]);
			printf(" %s", r < 0 ? errname(errno) : "ok");
			if (r == 0) {
				unsigned char got[64] = {0};
				socklen_t n = 64;
				r = getsockopt(fd, level, opt, got, &n);
				if (r < 0)
					printf("/%s", errname(errno));
				else
					printf("/%u=%d", n, n == 4 ? *(int *)got : n == 1 ? *got : 0);
			}
			close(fd);
			if (other >= 0)
				close(other);
		}
		printf("\n");
	}
}

static void get(int level, int opt)
{
	for (int k = 0; k < (level == SOL_SOCKET ? KINDS : INET); k++) {
		printf("  %s:", names[k]);
		static const int lens[] = {0, 1, 2, 4, 8, 64};
		for (int i = 0; i < 6; i++) {
			int fd = make(k);
			int v[64] = {0};
			socklen_t n = lens[i];
			int r = getsockopt(fd, level, opt, v, &n);
			if (r < 0)
				printf(" %s", errname(errno));
			else
				printf(" %u=%d", n, n <= 4 ? v[0] : 0);
			close(fd);
			if (other >= 0)
				close(other);
		}
		printf("\n");
	}
}

int main(void)
{
	// By number: the C library does not name them all.
	static const struct { int level, options[80]; } all[] = {
		{SOL_SOCKET, {5, 6, 9, 10, 12, 13, 14, 15, 19, 20, 21, 27, 29, 35, 40, 41, 43, 45, 46, 48, 56, 62, 63, 64,
			66, 67, 69, 72, 75}},
		{IPPROTO_IP, {1, 2, 6, 7, 8, 10, 11, 12, 13, 15, 18, 19, 20, 21, 23, 24}},
		{IPPROTO_TCP, {1, 3, 4, 5, 6, 7, 8, 12, 16, 17, 18, 25, 36, 37}},
		{IPPROTO_IPV6, {2, 3, 4, 5, 7, 8, 9, 10, 16, 18, 19, 23, 25, 26, 29, 49, 51, 53, 56, 58, 60, 62, 66, 67, 74,
			75, 78}},
	};
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
		for (const int *o = all[i].options; *o; o++) {
			printf("set %d %d\n", all[i].level, *o);
			set(all[i].level, *o);
			printf("get %d %d\n", all[i].level, *o);
			get(all[i].level, *o);
		}
	return 0;
}
