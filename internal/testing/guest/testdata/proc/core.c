// Whether wait says that a core was dumped.
#include "guest.h"
#include <sys/prctl.h>

static void die(const char *how, rlim_t limit, int dumpable, int sig)
{
	pid_t pid = MUST(fork());
	if (pid == 0) {
		struct rlimit r = {limit, RLIM_INFINITY};
		if (setrlimit(RLIMIT_CORE, &r) < 0 || prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0) < 0)
			_exit(9);
		kill(getpid(), sig);
		_exit(1);
	}
	siginfo_t si;
	int st;
	MUST(waitid(P_PID, pid, &si, WEXITED | WNOWAIT));
	MUST(waitpid(pid, &st, 0));
	printf("%s: %s, code %d, core %d\n", how, sigabbrev_np(WTERMSIG(st)), si.si_code, !!WCOREDUMP(st));
}

int main(void)
{
	die("no core allowed", 0, 1, SIGABRT);
	die("too small", 4095, 1, SIGQUIT);
	die("not dumpable", 0, 0, SIGSEGV);
	die("not a signal that dumps", RLIM_INFINITY, 1, SIGTERM);
	return 0;
}
