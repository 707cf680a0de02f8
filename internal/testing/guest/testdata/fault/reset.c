// Both ends of a connection get an RST that neither has sent. Arguments: what the connection
// is doing, and the port of a server or its name and port. Natively the client forges both.
// guest: root
#include "../two/two.h"
#include <netinet/ip.h>

static int device; // 0: we are not under Ariadne

static unsigned sum(const void *p, int n, unsigned s)
{
	const unsigned char *b = p;
	for (int i = 0; i < n; i += 2)
		s += b[i] << 8 | b[i + 1];
	return s;
}

// forge sends an RST of one address to another.
static void forge(int raw, struct sockaddr_in *from, struct sockaddr_in *to, unsigned seq)
{
	struct {
		struct iphdr ip;
		struct tcphdr tcp;
	} p = {{.version = 4, .ihl = 5, .tot_len = htons(sizeof p), .ttl = 64, .protocol = IPPROTO_TCP,
		.saddr = from->sin_addr.s_addr, .daddr = to->sin_addr.s_addr},
	       {.source = from->sin_port, .dest = to->sin_port, .seq = htonl(seq), .doff = 5, .rst = 1}};
	unsigned s = sum(&p.ip.saddr, 8, IPPROTO_TCP + sizeof p.tcp);
	s = sum(&p.tcp, sizeof p.tcp, s);
	s = (s & 0xffff) + (s >> 16);
	p.tcp.check = htons(~(s + (s >> 16)));
	MUST(sendto(raw, &p, sizeof p, 0, (void *)to, sizeof *to));
}

static unsigned number(int s, int queue)
{
	unsigned seq;
	socklen_t n = sizeof seq;
	MUST(setsockopt(s, IPPROTO_TCP, TCP_REPAIR_QUEUE, &queue, sizeof queue));
	MUST(getsockopt(s, IPPROTO_TCP, TCP_QUEUE_SEQ, &seq, &n));
	return seq;
}

// strike has the connection reset. Under Ariadne what is sent is what the reset hits.
static void strike(int s)
{
	if (device) {
		MUST(write(device, "fault on\n", 9));
		MUST(write(s, "x", 1));
		return;
	}
	int on = 1, off = -1, raw = MUST(socket(AF_INET, SOCK_RAW, IPPROTO_RAW));
	struct sockaddr_in me, you;
	socklen_t n = sizeof me;
	MUST(getsockname(s, (void *)&me, &n));
	MUST(getpeername(s, (void *)&you, &n));
	MUST(setsockopt(s, IPPROTO_TCP, TCP_REPAIR, &on, sizeof on));
	unsigned next = number(s, TCP_SEND_QUEUE), expected = number(s, TCP_RECV_QUEUE);
	MUST(setsockopt(s, IPPROTO_TCP, TCP_REPAIR, &off, sizeof off));
	forge(raw, &me, &you, next);
	forge(raw, &you, &me, expected);
}

// whole: the connection was not reset. The client ends first.
static void whole(void)
{
	if (!device)
		nap(3000);
	exit(0);
}

static void look(int s)
{
	struct pollfd p = {s, POLLIN | POLLOUT | POLLRDHUP, 0};
	MUST(poll(&p, 1, 5000));
	if (!(p.revents & POLLHUP))
		whole();
	printf("events %x\n", p.revents);
}

static void block(int s)
{
	char b[16];
	if (SHOW(read(s, b, 16)) > 0)
		whole();
}

static void after(const char *what, int s)
{
	char b[16];
	int e;
	socklen_t n = sizeof e;
	look(s);
	if (!strcmp(what, "error")) {
		MUST(getsockopt(s, SOL_SOCKET, SO_ERROR, &e, &n));
		printf("error %s\n", errname(e));
	}
	if (!strcmp(what, "write"))
		SHOW(send(s, "y", 1, MSG_NOSIGNAL));
	SHOW(recv(s, b, 2, 0));
	SHOW(recv(s, b, 16, 0));
	SHOW(recv(s, b, 16, 0));
	SHOW(recv(s, b, 16, 0));
	SHOW(send(s, "y", 1, MSG_NOSIGNAL));
	SHOW(shutdown(s, SHUT_WR));
	SHOW(getpeername(s, (void *)b, &(socklen_t){16}));
	look(s);
}

int main(int argc, char **argv)
{
	const char *what = argv[1];
	struct stat st;
	if (argc > 3 && stat("/dev/ariadne", &st) == 0 && S_ISCHR(st.st_mode)) {
		device = MUST(open("/dev/ariadne", O_RDWR));
		MUST(write(device, "fault off\n", 10));
	}
	if (argc == 3) {
		int c = MUST(accept(serve(argv + 1), NULL, NULL));
		if (!strcmp(what, "unread"))
			MUST(write(c, "data", 4));
		if (!strcmp(what, "half"))
			MUST(shutdown(c, SHUT_WR));
		if (!strcmp(what, "read"))
			block(c);
		else
			nap(400);
		after(what, c);
		return 0;
	}
	int s = reach(argv + 1);
	if (!strcmp(what, "unread"))
		MUST(write(s, "data", 4));
	nap(200);
	strike(s);
	if (!strcmp(what, "read"))
		block(s);
	else
		nap(400);
	after(what, s);
	nap(1000);
	exit(9);
}
