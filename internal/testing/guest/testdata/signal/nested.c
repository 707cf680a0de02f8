// Handlers interrupt one another, unless masked; SA_NODEFER and SA_RESETHAND.
#include "guest.h"

static int depth;
static char log[512];

static void note(const char *s) { strcat(log, s); }

static void usr1(int sig)
{
	note("(1");
	raise(SIGUSR2);
	if (depth++ < 1)
		raise(SIGUSR1);
	note("1)");
}

static void usr2(int sig) { note("(2)"); }

static void run(int flags, int masked)
{
	struct sigaction sa = {.sa_handler = usr1, .sa_flags = flags};
	if (masked)
		sigaddset(&sa.sa_mask, SIGUSR2);
	MUST(sigaction(SIGUSR1, &sa, NULL));
	*log = depth = 0;
	raise(SIGUSR1);
	printf("%s\n", log);
}

int main(void)
{
	on(SIGUSR2, usr2, 0);
	run(0, 0);
	run(0, 1);
	run(SA_NODEFER, 0);
	run(SA_NODEFER, 1);
	on(SIGUSR2, usr2, SA_RESETHAND);
	raise(SIGUSR2);
	struct sigaction now;
	sigaction(SIGUSR2, NULL, &now);
	SURE(now.sa_handler == SIG_DFL);
	pid_t child = fork();
	if (child == 0) {
		raise(SIGUSR2);
		_exit(0);
	}
	show_wait("child", child);
}
