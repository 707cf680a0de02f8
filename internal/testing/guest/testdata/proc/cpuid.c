// What the processor says of itself: the same in threads, children, other programs and
// handlers, and no register or signal is touched by asking.
#include "guest.h"
#include <cpuid.h>

static unsigned first[4], same = 1;

static void ask(const char *where)
{
	unsigned r[4];
	__cpuid_count(7, 0, r[0], r[1], r[2], r[3]);
	same = same && !memcmp(r, first, sizeof r);
	__cpuid(0, r[0], r[1], r[2], r[3]);
	printf("%s: %d %d\n", where, r[0] >= 7, same);
}

static void *thread(void *arg)
{
	ask("thread");
	return NULL;
}

static void handler(int sig)
{
	sigset_t set;
	ask("handler");
	sigprocmask(SIG_BLOCK, NULL, &set);
	SURE(sigismember(&set, SIGSEGV) == 1);
}

int main(int argc, char **argv)
{
	__cpuid_count(7, 0, first[0], first[1], first[2], first[3]);
	if (argc > 1) {
		char line[99];
		snprintf(line, sizeof line, "%x %x %x %x", first[0], first[1], first[2], first[3]);
		printf("program: %d\n", !strcmp(line, argv[1]));
		return 0;
	}
	ask("main");
	pthread_join(start(thread, NULL), NULL);
	if (fork() == 0) {
		ask("child");
		pthread_join(start(thread, NULL), NULL);
		_exit(0);
	}
	wait(NULL);
	on(SIGSEGV, handler, 0);
	raise(SIGSEGV);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	sigprocmask(SIG_BLOCK, &set, NULL);
	ask("blocked");
	signal(SIGSEGV, SIG_IGN);
	ask("ignored");
	sigpending(&set);
	SURE(sigismember(&set, SIGSEGV) == 0);
	char line[99];
	snprintf(line, sizeof line, "%x %x %x %x", first[0], first[1], first[2], first[3]);
	fflush(stdout);
	execl("/proc/self/exe", "again", line, NULL);
}
