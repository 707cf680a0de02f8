// Who sends datagrams to a killed process learns of it at the next call, if connected.
#include "kill.h"

static struct sockaddr_in a;
static int u;

static void act(void) {}

int main(void)
{
	char b[8];
	u = bound(SOCK_DGRAM, &a);
	pid_t v = victim(act);
	close(u);
	int c = MUST(socket(AF_INET, SOCK_DGRAM, 0)), d = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	MUST(connect(c, (void *)&a, sizeof a));
	SHOW(send(c, "1", 1, 0));
	slay(v);
	SHOW(send(c, "2", 1, 0));
	wait_for("connected", c, POLLIN);
	SHOW(send(c, "3", 1, 0));
	SHOW(send(c, "4", 1, 0));
	nap(20);
	SHOW(recv(c, b, 8, MSG_DONTWAIT));
	SHOW(recv(c, b, 8, MSG_DONTWAIT));
	SHOW(sendto(d, "5", 1, 0, (void *)&a, sizeof a));
	nap(20);
	SHOW(sendto(d, "6", 1, 0, (void *)&a, sizeof a));
	SHOW(recv(d, b, 8, MSG_DONTWAIT));
}
