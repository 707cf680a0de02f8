// Process, thread, user and group numbers.
#include "guest.h"

static void *other(void *x)
{
	SURE(gettid() != getpid());
	return x;
}

int main(void)
{
	uid_t r, e, s;
	gid_t g[64];
	SURE(getpid() > 0 && gettid() == getpid());
	SURE(getppid() >= 0);
	pthread_join(start(other, NULL), NULL);
	SHOW(getresuid(&r, &e, &s));
	SURE(r == getuid() && e == geteuid() && s == e);
	SHOW(setuid(getuid()));
	SHOW(setgid(getgid()));
	SHOW(setresuid(-1, -1, -1));
	SHOW(setreuid(getuid(), geteuid()));
	SURE(getgroups(64, g) >= 0);
	SURE(getgroups(0, NULL) >= 0);
	SHOW(getgroups(-1, g));
	pid_t me = getpid(), child = fork();
	if (child == 0)
		_exit(getppid() == me && getpid() != me ? 0 : 1);
	show_wait("child", child);
	SURE(child > me);
}
