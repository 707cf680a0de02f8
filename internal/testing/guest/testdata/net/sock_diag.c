// What NETLINK_SOCK_DIAG tells of the program's own sockets.
#include "guest.h"
#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

static struct { const char *name; unsigned ino; int port; char text[400]; } mine[20];
static int count;

static int remember(const char *name, int fd)
{
	struct stat st;
	MUST(fstat(fd, &st));
	mine[count].name = name;
	mine[count++].ino = st.st_ino;
	return fd;
}

static const char *who(unsigned ino)
{
	for (int i = 0; i < count; i++)
		if (mine[i].ino == ino)
			return mine[i].name;
	return ino ? "another" : "none";
}

static void message(struct nlmsghdr *h)
{
	struct inet_diag_msg *m = NLMSG_DATA(h);
	struct unix_diag_msg *u = NLMSG_DATA(h);
	int is_unix = m->idiag_family == AF_UNIX;
	unsigned ino = is_unix ? u->udiag_ino : m->idiag_inode;
	char s[400], a[50], b[50];
	int i = 0, n;
	for (; i < count && mine[i].ino != ino; i++)
		;
	if (i == count)
		return;
	if (is_unix)
		n = sprintf(s, "type %d state %d", u->udiag_type, u->udiag_state);
	else
		n = sprintf(s, "family %d state %d timer %d %s %s, port %s, rqueue %u wqueue %u uid %u if %u", m->idiag_family, m->idiag_state, m->idiag_timer,
			    inet_ntop(m->idiag_family, m->id.idiag_src, a, sizeof a), inet_ntop(m->idiag_family, m->id.idiag_dst, b, sizeof b),
			    m->id.idiag_dport ? "both" : "one", m->idiag_rqueue, m->idiag_wqueue, m->idiag_uid, m->id.idiag_if);
	int size = NLMSG_LENGTH(is_unix ? sizeof *u : sizeof *m);
	struct rtattr *r = (void *)((char *)h + NLMSG_ALIGN(size));
	int left = h->nlmsg_len - NLMSG_ALIGN(size);
	char *attrs[10] = {0};
	int lens[10] = {0};
	for (; RTA_OK(r, left); r = RTA_NEXT(r, left))
		if (r->rta_type < 10)
			attrs[r->rta_type] = RTA_DATA(r), lens[r->rta_type] = RTA_PAYLOAD(r);
	if (is_unix) {
		if (attrs[UNIX_DIAG_NAME])
			n += sprintf(s + n, ", name of %d: %.*s", lens[UNIX_DIAG_NAME], lens[UNIX_DIAG_NAME] - 1, attrs[UNIX_DIAG_NAME] + !*attrs[UNIX_DIAG_NAME]);
		if (attrs[UNIX_DIAG_PEER])
			n += sprintf(s + n, ", peer %s", who(*(unsigned *)attrs[UNIX_DIAG_PEER]));
		if (attrs[UNIX_DIAG_ICONS])
			n += sprintf(s + n, ", %d to accept", lens[UNIX_DIAG_ICONS] / 4);
		if (attrs[UNIX_DIAG_RQLEN])
			n += sprintf(s + n, ", rqueue %u", *(unsigned *)attrs[UNIX_DIAG_RQLEN]);
		if (attrs[UNIX_DIAG_SHUTDOWN])
			n += sprintf(s + n, ", shut %d", *attrs[UNIX_DIAG_SHUTDOWN]);
	} else if (attrs[INET_DIAG_SHUTDOWN])
		n += sprintf(s + n, ", shut %d", *attrs[INET_DIAG_SHUTDOWN]);
	strcpy(mine[i].text, s);
}

static void ask(const char *what, void *body, int len)
{
	static char b[1 << 16] __attribute__((aligned(8)));
	struct nlmsghdr *h = (void *)b;
	int fd = MUST(socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG)), done = 0;
	*h = (struct nlmsghdr){NLMSG_LENGTH(len), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, 7};
	memcpy(NLMSG_DATA(h), body, len);
	MUST(send(fd, b, h->nlmsg_len, 0));
	while (!done) {
		int n = MUST(recv(fd, b, sizeof b, 0));
		for (h = (void *)b; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
			if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
				done = 1;
			else
				message(h);
		}
	}
	close(fd);
	printf("%s:\n", what);
	for (int i = 0; i < count; i++) {
		if (*mine[i].text)
			printf("  %s: %s\n", mine[i].name, mine[i].text);
		*mine[i].text = 0;
	}
}

static void inet(const char *what, int family, int proto, unsigned states)
{
	struct inet_diag_req_v2 r = {.sdiag_family = family, .sdiag_protocol = proto, .idiag_states = states};
	ask(what, &r, sizeof r);
}

int main(void)
{
	struct sockaddr_in a = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}};
	struct sockaddr_in6 six = {AF_INET6};
	struct sockaddr_un path = {AF_UNIX, "./name"}, abstract = {AF_UNIX};
	socklen_t len = sizeof a;
	int l = remember("listener", MUST(socket(AF_INET, SOCK_STREAM, 0)));
	MUST(bind(l, (void *)&a, sizeof a));
	MUST(listen(l, 5));
	MUST(getsockname(l, (void *)&a, &len));
	int c = remember("client", MUST(socket(AF_INET, SOCK_STREAM, 0))), waits = remember("second", MUST(socket(AF_INET, SOCK_STREAM, 0)));
	MUST(connect(c, (void *)&a, sizeof a));
	int s = remember("server", MUST(accept(l, NULL, NULL)));
	MUST(connect(waits, (void *)&a, sizeof a));
	MUST(write(c, "hello", 5));
	int l6 = remember("listener6", MUST(socket(AF_INET6, SOCK_STREAM, 0)));
	MUST(bind(l6, (void *)&six, sizeof six));
	MUST(listen(l6, 7));
	int u = remember("udp", MUST(socket(AF_INET, SOCK_DGRAM, 0))), v = remember("connected udp", MUST(socket(AF_INET, SOCK_DGRAM, 0)));
	a.sin_port = 0;
	MUST(bind(u, (void *)&a, sizeof a));
	MUST(getsockname(u, (void *)&a, &len));
	MUST(connect(v, (void *)&a, sizeof a));
	inet("all of TCP", AF_INET, IPPROTO_TCP, -1);
	inet("listeners", AF_INET, IPPROTO_TCP, 1 << 10);
	inet("established", AF_INET, IPPROTO_TCP, 1 << 1);
	inet("IPv6", AF_INET6, IPPROTO_TCP, -1);
	inet("UDP", AF_INET, IPPROTO_UDP, -1);
	inet("bound UDP", AF_INET, IPPROTO_UDP, 1 << 7);
	MUST(shutdown(s, SHUT_RD));
	inet("shut", AF_INET, IPPROTO_TCP, -1);

	int ul = remember("unix listener", MUST(socket(AF_UNIX, SOCK_STREAM, 0))), uc = remember("unix client", MUST(socket(AF_UNIX, SOCK_STREAM, 0)));
	MUST(bind(ul, (void *)&path, sizeof path.sun_family + strlen(path.sun_path)));
	MUST(listen(ul, 3));
	MUST(connect(uc, (void *)&path, sizeof path));
	int us = remember("unix server", MUST(accept(ul, NULL, NULL)));
	MUST(write(uc, "abc", 3));
	int pair[2], d = remember("datagram", MUST(socket(AF_UNIX, SOCK_DGRAM, 0))), e = remember("second client", MUST(socket(AF_UNIX, SOCK_STREAM, 0)));
	MUST(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
	remember("pair", pair[0]), remember("other", pair[1]);
	strcpy(abstract.sun_path + 1, "guest abstract");
	MUST(bind(d, (void *)&abstract, sizeof abstract.sun_family + 15));
	MUST(connect(e, (void *)&path, sizeof path));
	MUST(shutdown(us, SHUT_RD));
	struct unix_diag_req r = {.sdiag_family = AF_UNIX, .udiag_states = -1,
		.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER | UDIAG_SHOW_ICONS | UDIAG_SHOW_RQLEN};
	ask("Unix", &r, sizeof r);
	r.udiag_states = 1 << 10;
	r.udiag_show = UDIAG_SHOW_NAME;
	ask("Unix listeners", &r, sizeof r);
	return 0;
}
