// exec in a thread ends all others and keeps the process's number.
#include "guest.h"

static char *self;

static void *forever(void *x)
{
	for (;;)
		pause();
	return x;
}

static void *execs(void *x)
{
	char pid[32];
	sprintf(pid, "%d", getpid());
	execl("/proc/self/exe", self, pid, NULL);
	return x;
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		SURE(atoi(argv[1]) == getpid() && gettid() == getpid());
		return 8;
	}
	self = argv[0];
	start(forever, NULL);
	start(execs, NULL);
	forever(NULL);
}
