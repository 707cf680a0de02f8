// Calls that SA_RESTART does not restart.
#include "net.h"
#include <sys/epoll.h>
#include <sys/msg.h>

static void in(int ms)
{
	struct itimerval it = {{0, 0}, {0, ms * 1000}};
	MUST(setitimer(ITIMER_REAL, &it, NULL));
}

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
	in(10);
	SHOW(pause());
	in(10);
	SHOW(sigsuspend(&none));
	in(10);
	SHOW(sigtimedwait(&usr, NULL, &five));
	in(10);
	SHOW(sigwaitinfo(&usr, NULL));
	in(10);
	SHOW(epoll_wait(ep, &e, 1, -1));
	in(10);
	SHOW(poll(NULL, 0, 5000));
	in(10);
	SHOW(nanosleep(&five, NULL));
	in(10);
	SHOW(select(0, NULL, NULL, NULL, &five.tv_sec ? &tv : NULL));
	SURE(tv.tv_sec == 4);
	tv.tv_sec = 5;
	MUST(setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv));
	in(10);
	SHOW(recv(s[0], b, 8, 0));
}
