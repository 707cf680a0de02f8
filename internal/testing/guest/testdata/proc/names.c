// Names of processes and threads.
#include "guest.h"
#include <sys/prctl.h>

static void comm(const char *path)
{
	char b[32] = {0};
	int fd = MUST(open(path, O_RDONLY));
	MUST(read(fd, b, 31));
	printf("%s: %s", path, b);
	close(fd);
}

static void *named(void *x)
{
	char b[32];
	SHOWE(pthread_setname_np(pthread_self(), "second"));
	SHOWE(pthread_getname_np(pthread_self(), b, sizeof b));
	printf("%s\n", b);
	comm("/proc/thread-self/comm");
	comm("/proc/self/comm");
	return x;
}

int main(void)
{
	char b[32];
	SHOW(prctl(PR_SET_NAME, "a name that is far too long"));
	SHOW(prctl(PR_GET_NAME, b));
	printf("%s\n", b);
	comm("/proc/self/comm");
	pthread_join(start(named, NULL), NULL);
	SHOWE(pthread_setname_np(pthread_self(), "sixteen letters!"));
	SHOW(prctl(PR_GET_NAME, b));
	printf("%s\n", b);
	pid_t child = fork();
	if (child == 0) {
		prctl(PR_GET_NAME, b);
		_exit(strcmp(b, "a name that is ") != 0);
	}
	show_wait("child", child);
}
