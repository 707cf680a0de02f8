// Calls that SA_RESTART does not restart.
#include "net.h"
#include <sys/epoll.h>

int main(void)
{
	struct timeval tv = {5, 0};
	struct timespec five = {5, 0};
	struct epoll_event e;
	char b[8];
	int s[2], ep = MUST(epoll_create1(0));
	sigset_t none, usr;
	sigemptyset(&none);
	sigemptyset(&usr);
	sigaddset(&usr, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr, NULL);
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	on(SIGALRM, nothing, SA_RESTART);
	ring(20);
	SHOW(pause());
	SHOW(sigsuspend(&none));
	SHOW(sigtimedwait(&usr, NULL, &five));
	SHOW(sigwaitinfo(&usr, NULL));
	SHOW(epoll_wait(ep, &e, 1, -1));
	SHOW(poll(NULL, 0, 5000));
	SHOW(nanosleep(&five, NULL));
	SHOW(select(0, NULL, NULL, NULL, &tv));
	SURE(tv.tv_sec == 4);
	tv.tv_sec = 5;
	MUST(setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv));
	SHOW(recv(s[0], b, 8, 0));
}
