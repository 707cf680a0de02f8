// SIGCHLD: handled, ignored so that children vanish, and not for stops with SA_NOCLDSTOP.
#include "guest.h"

static volatile sig_atomic_t count;
static void handler(int sig) { count++; }

int main(void)
{
	sigset_t s, none;
	on(SIGCHLD, handler, SA_NOCLDSTOP);
	sigemptyset(&none);
	sigemptyset(&s);
	sigaddset(&s, SIGCHLD);
	sigprocmask(SIG_BLOCK, &s, NULL);
	pid_t child = fork();
	if (child == 0) {
		raise(SIGSTOP);
		_exit(0);
	}
	int st;
	MUST(waitpid(child, &st, WUNTRACED));
	show_status("child", st);
	sigset_t pend;
	sigpending(&pend);
	SURE(!sigismember(&pend, SIGCHLD));
	kill(child, SIGCONT);
	sigsuspend(&none);
	SHOW(count);
	show_wait("child", child);
	sigprocmask(SIG_UNBLOCK, &s, NULL);
	signal(SIGCHLD, SIG_IGN);
	child = fork();
	if (child == 0)
		_exit(0);
	SHOW(waitpid(child, NULL, 0));
	SHOW(kill(child, 0));
	on(SIGCHLD, handler, SA_NOCLDWAIT);
	child = fork();
	if (child == 0)
		_exit(0);
	int r;
	while ((r = waitpid(child, NULL, 0)) < 0 && errno == EINTR)
		;
	SHOW(r);
	SHOW(count);
}
