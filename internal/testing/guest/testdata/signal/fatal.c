// Which signals kill, which are ignored, and what abort does to its handlers.
#include "guest.h"

static void returns(int sig) { printf("handler of %s returns\n", sigabbrev_np(sig)); }

static void end_by(int sig)
{
	struct rlimit none = {0, 0};
	pid_t child = fork();
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &none);
		raise(sig);
		_exit(0);
	}
	show_wait(sigabbrev_np(sig), child);
}

int main(void)
{
	int sigs[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGABRT, SIGSEGV, SIGFPE, SIGILL,
		SIGBUS, SIGSYS, SIGTRAP, SIGXCPU, SIGPOLL, SIGPROF, SIGVTALRM, SIGKILL, SIGCHLD, SIGURG, SIGWINCH, SIGCONT};
	for (unsigned i = 0; i < sizeof sigs / sizeof *sigs; i++)
		end_by(sigs[i]);
	pid_t child = fork();
	if (child == 0) {
		on(SIGABRT, returns, 0);
		abort();
	}
	show_wait("abort", child);
	child = fork();
	if (child == 0) {
		signal(SIGABRT, SIG_IGN);
		abort();
	}
	show_wait("abort", child);
}
