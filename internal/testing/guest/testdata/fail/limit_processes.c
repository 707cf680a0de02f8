// guest: root
// guest: gcc -pthread
// At a user's limit of processes fork and threads fail with EAGAIN, until one has ended.
#include "guest.h"

static void *runs(void *x) { nap(20); return x; }

int main(void)
{
	struct rlimit l = {2, 2};
	pthread_t t, u;
	MUST(setgid(54321));
	MUST(setuid(54321)); // nobody else's
	MUST(setrlimit(RLIMIT_NPROC, &l));
	pid_t c = MUST(fork());
	if (!c) {
		pause();
		_exit(0);
	}
	SHOW(fork());
	SHOWE(pthread_create(&t, NULL, runs, NULL));
	SHOW(kill(c, SIGKILL));
	SHOW(fork()); // the zombie counts
	show_wait("the child", c);
	SHOWE(pthread_create(&t, NULL, runs, NULL));
	SHOWE(pthread_create(&u, NULL, runs, NULL));
	SHOWE(pthread_join(t, NULL));
}
