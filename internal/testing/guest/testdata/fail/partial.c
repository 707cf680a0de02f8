// Writes that find too little room do a part; those that are interrupted say how much.
#include "net.h"

static char big[1 << 20];

int main(void)
{
	int p[2], s[2];
	MUST(pipe2(p, O_NONBLOCK));
	MUST(fcntl(p[1], F_SETPIPE_SZ, 8192));
	SHOW(write(p[1], big, 10000));
	SHOW(write(p[1], big, 1));
	SHOW(read(p[0], big, 4096));
	SHOW(write(p[1], big, 4097));
	SHOW(write(p[1], big, 4096));
	SHOW(write(p[1], big, 5000));
	MUST(fcntl(p[1], F_SETFL, 0));
	on(SIGALRM, nothing, 0);
	ring(20);
	SHOW(write(p[1], big, 5000));
	SHOW(read(p[0], big, 6000));
	SHOW(write(p[1], big, 50000));
	on(SIGALRM, nothing, SA_RESTART);
	MUST(setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL));
	MUST(socketpair(AF_UNIX, SOCK_DGRAM, 0, s));
	int room = 4608;
	MUST(setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room));
	SHOW(send(s[0], big, sizeof big, MSG_DONTWAIT));
	SHOW(send(s[0], big, 2000, MSG_DONTWAIT));
}
