// When a socket gets a port by itself, keeps it and loses it.
#include "net.h"

static void where(const char *what, int s)
{
	struct sockaddr_in a = {0};
	socklen_t n = sizeof a;
	MUST(getsockname(s, (struct sockaddr *)&a, &n));
	printf("%s: %s, %s\n", what, inet_ntoa(a.sin_addr), a.sin_port ? "a port" : "no port");
}

int main(void)
{
	struct sockaddr_in a = unused(), none = {.sin_family = AF_UNSPEC}, any = loopback(0);
	char big[70000] = {0};
	int s = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	where("fresh", s);
	SHOW(recv(s, big, 1, MSG_DONTWAIT));
	where("after recv", s);
	SHOW(send(s, "x", 1, 0));
	where("after send to nobody", s);
	SHOW(connect(s, (struct sockaddr *)&none, sizeof none));
	where("disconnected", s);
	SHOW(sendto(s, big, sizeof big, 0, (struct sockaddr *)&a, sizeof a));
	where("after a datagram too big", s);
	close(s);
	s = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	a.sin_family = 99;
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	where("after a connect that failed", s);
	a.sin_family = AF_INET;
	close(s);

	s = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	SHOW(bind(s, (struct sockaddr *)&any, sizeof any));
	where("bound to any port", s);
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	where("connected", s);
	SHOW(connect(s, (struct sockaddr *)&none, sizeof none));
	where("disconnected", s);
	SHOW(send(s, "x", 1, 0));
	where("after send", s);
	close(s);

	s = MUST(socket(AF_INET, SOCK_STREAM, 0));
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	where("tcp refused", s);
	SHOW(bind(s, (struct sockaddr *)&any, sizeof any));
	where("tcp bound", s);
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	where("tcp refused", s);
	SHOW(listen(s, 1));
	where("tcp listening", s);
	SHOW(shutdown(s, SHUT_RD));
	where("tcp shut down", s);
	close(s);
	int p[2];
	tcp_pair(p);
	SHOW(connect(p[0], (struct sockaddr *)&none, sizeof none));
	where("tcp disconnected", p[0]);
	SHOW(connect(p[0], (struct sockaddr *)&a, sizeof a));
	where("tcp refused", p[0]);
	return 0;
}
