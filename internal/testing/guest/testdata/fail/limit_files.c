// At the limit of descriptors every call that makes one fails with EMFILE, and takes nothing.
#include "net.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

int main(void)
{
	struct rlimit none = {3, 3}, old;
	struct sockaddr_in a;
	int p[2] = {-7, -7};
	sigset_t s;
	sigemptyset(&s);
	int l = listener(&a), c = dial(&a);
	MUST(getrlimit(RLIMIT_NOFILE, &old));
	none.rlim_max = old.rlim_max;
	none.rlim_cur = c + 1;
	MUST(setrlimit(RLIMIT_NOFILE, &none));
	SHOW(open("made", O_CREAT | O_RDWR, 0600));
	SHOW(access("made", F_OK));
	SHOW(openat(AT_FDCWD, ".", O_TMPFILE | O_RDWR, 0600));
	SHOW(socket(AF_INET, SOCK_STREAM, 0));
	SHOW(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
	SHOW(pipe(p));
	printf("%d %d\n", p[0], p[1]);
	SHOW(dup(0));
	SHOW(dup2(0, c + 1));
	SHOW(dup2(0, 0));
	SHOW(dup3(0, c + 1, 0));
	SHOW(fcntl(0, F_DUPFD, 0));
	SHOW(fcntl(0, F_DUPFD, c + 1));
	SHOW(epoll_create1(0));
	SHOW(eventfd(0, 0));
	SHOW(signalfd(-1, &s, 0));
	SHOW(timerfd_create(CLOCK_MONOTONIC, 0));
	SHOW(inotify_init1(0));
	SHOW(memfd_create("m", 0));
	SHOW(syscall(SYS_pidfd_open, getpid(), 0));
	SHOW(accept(l, NULL, NULL));
	SHOW(accept(l, NULL, NULL));
	MUST(setrlimit(RLIMIT_NOFILE, &old));
	SURE(accept(l, NULL, NULL) > 0);
	none.rlim_cur = c + 3; // one is left
	MUST(setrlimit(RLIMIT_NOFILE, &none));
	SHOW(pipe(p));
	SURE(dup(0) == c + 2);
}
