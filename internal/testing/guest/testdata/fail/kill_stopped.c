// SIGKILL ends what is stopped, what blocks all signals, and what waits without being interruptible by others.
#include "kill.h"

static void stops(void) {}
static void blocks(void)
{
	sigset_t all;
	sigfillset(&all);
	MUST(sigprocmask(SIG_BLOCK, &all, NULL));
	signal(SIGTERM, SIG_IGN);
}

int main(void)
{
	int st;
	pid_t v = victim(stops);
	SHOW(kill(v, SIGSTOP));
	MUST(waitpid(v, &st, WUNTRACED));
	show_status("it", st);
	SHOW(kill(v, SIGTERM));
	SHOW(waitpid(v, &st, WNOHANG | WUNTRACED));
	slay(v);
	v = victim(blocks);
	SHOW(kill(v, SIGTERM));
	SHOW(kill(v, SIGINT));
	nap(10);
	SHOW(waitpid(v, &st, WNOHANG));
	slay(v);
	SHOW(kill(v, 0));
}
