// Headers of messages, addresses and what goes with them are read when a call begins; how much room there is for an address
// when it is stored.
#include "argument.h"
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

static int s[2], d[2], listener, client, got;
static struct msghdr m;
static struct mmsghdr mm[2];
static struct iovec v[2];
static char one[16], two[16], control[64], control2[64];
static struct sockaddr_un to, from;
static socklen_t size;
static struct sockaddr_in in;

static void *receives(void *x) { SHOW(recvmsg(s[0], &m, 0)); return x; }
static void *receives_from(void *x) { SHOW(recvfrom(d[0], one, 16, 0, (void *)&from, &size)); return x; }
static void *receives_all(void *x) { SHOW(recvmmsg(d[0], mm, 2, 0, NULL)); return x; }
static void *sends(void *x) { SHOW(sendmsg(s[1], &m, 0)); return x; }
static void *sends_to(void *x) { SHOW(sendto(d[1], one, 3, 0, (void *)&to, sizeof to)); return x; }
static void *sends_all(void *x) { SHOW(sendmmsg(d[1], mm, 2, 0)); return x; }
static void *accepts(void *x) { got = accept(listener, (void *)&in, &size); SURE(got >= 0); return x; }
static void *connects(void *x) { SHOW(connect(client, (void *)&to, sizeof to)); return x; }

// taken takes so many messages.
static void taken(int n)
{
	char b[64];
	while (n-- > 0)
		recv(d[0], b, sizeof b, 0);
}

static void drained(const char *what)
{
	char b[64], last[64] = "", before[64] = "";
	int n;
	while ((n = recv(d[0], b, sizeof b, MSG_DONTWAIT)) >= 0)
		memcpy(before, last, 64), snprintf(last, sizeof last, "%.*s", n, b);
	printf("%s: %s %s\n", what, before, last);
}

int main(void)
{
	pthread_t t;
	int n = 0;
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	v[0] = (struct iovec){one, 8}, v[1] = (struct iovec){two, 8};
	m = (struct msghdr){.msg_iov = v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	t = waits(receives);
	MEANWHILE((m.msg_iov = v + 1, v[0].iov_base = two, m.msg_control = control2, m.msg_controllen = 0), write(s[1], "abc", 3));
	joined(t);
	printf("recvmsg: %s, %s, %ld\n", one, two, (long)m.msg_controllen);

	n = fill(s[1]);
	memset(one, 0, 16), memset(two, 0, 16);
	strcpy(one, "one"), strcpy(two, "two");
	v[0] = (struct iovec){one, 3}, v[1] = (struct iovec){two, 3};
	m = (struct msghdr){.msg_iov = v, .msg_iovlen = 1};
	t = waits(sends);
	MEANWHILE((m.msg_iov = v + 1, v[0].iov_base = two), room(s[0], n));
	joined(t);
	drain(s[0], "sendmsg", 3);
	n = fill(s[1]);
	v[0].iov_base = one, m.msg_iov = v;
	t = waits(sends);
	MEANWHILE(strcpy(one, "ONE"), room(s[0], n));
	joined(t);
	drain(s[0], "sendmsg of what has changed", 3);

	char dir[] = "/tmp/argumentXXXXXX";
	MUST(mkdtemp(dir) ? 0 : -1), MUST(chdir(dir));
	d[0] = socket(AF_UNIX, SOCK_DGRAM, 0), d[1] = socket(AF_UNIX, SOCK_DGRAM, 0);
	to = (struct sockaddr_un){AF_UNIX, "a"};
	MUST(bind(d[0], (void *)&to, sizeof to));
	n = 0;
	while (sendto(d[1], "full", 4, MSG_DONTWAIT, (void *)&to, sizeof to) > 0)
		n++;
	strcpy(one, "one");
	t = waits(sends_to);
	MEANWHILE((strcpy(one, "new"), strcpy(to.sun_path, "b")), taken(n));
	joined(t);
	drained("sendto");
	strcpy(to.sun_path, "a");
	MUST(connect(d[1], (void *)&to, sizeof to));
	n = 0;
	while (send(d[1], "full", 4, MSG_DONTWAIT) > 0)
		n++;
	// Both messages are of the same memory.
	strcpy(one, "one");
	v[0] = (struct iovec){one, 3};
	mm[0].msg_hdr = mm[1].msg_hdr = (struct msghdr){.msg_iov = v, .msg_iovlen = 1};
	t = waits(sends_all);
	MEANWHILE(strcpy(one, "two"), taken(n));
	joined(t);
	drained("sendmmsg");

	size = sizeof from;
	t = waits(receives_from);
	MEANWHILE(size = 1, send(d[1], "x", 1, 0));
	joined(t);
	SHOW(size);
	v[0] = (struct iovec){one, 3}, v[1] = (struct iovec){two, 3};
	mm[0].msg_hdr = (struct msghdr){.msg_iov = v, .msg_iovlen = 1}, mm[1].msg_hdr = mm[0].msg_hdr;
	t = waits(receives_all);
	MEANWHILE(v[0].iov_base = two, send(d[1], "abc", 3, 0));
	rest(0);
	v[0].iov_base = one;
	send(d[1], "def", 3, 0);
	joined(t);
	printf("recvmmsg: %.3s %.3s\n", one, two);

	listener = socket(AF_INET, SOCK_STREAM, 0);
	in = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	MUST(bind(listener, (void *)&in, sizeof in)), MUST(listen(listener, 5));
	size = sizeof in, getsockname(listener, (void *)&in, &size);
	struct sockaddr_in server = in;
	memset(&in, 0, sizeof in);
	t = waits(accepts);
	client = socket(AF_INET, SOCK_STREAM, 0);
	MEANWHILE(size = 2, MUST(connect(client, (void *)&server, sizeof server)));
	joined(t);
	printf("accept: %d %d %d\n", size, in.sin_family == AF_INET, in.sin_port == 0);

	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	strcpy(to.sun_path, "c");
	MUST(bind(listener, (void *)&to, sizeof to)), MUST(listen(listener, 0));
	int first = socket(AF_UNIX, SOCK_STREAM, 0);
	MUST(connect(first, (void *)&to, sizeof to));
	client = socket(AF_UNIX, SOCK_STREAM, 0);
	t = waits(connects);
	MEANWHILE(strcpy(to.sun_path, "d"), accept(listener, NULL, NULL));
	joined(t);
	for (const char *name = "abcd"; *name; name++)
		unlink((char[]){*name, 0});
	SHOW(rmdir(dir));
}
