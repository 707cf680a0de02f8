// siglongjmp out of a handler restores the mask, longjmp does not.
#include "guest.h"

static sigjmp_buf back;
static void handler(int sig) { siglongjmp(back, 1); }

static void run(int save)
{
	sigset_t s;
	if (sigsetjmp(back, save) == 0)
		raise(SIGUSR1);
	sigprocmask(SIG_SETMASK, NULL, &s);
	printf("saved %d: blocked %d\n", save, sigismember(&s, SIGUSR1));
	sigemptyset(&s);
	sigprocmask(SIG_SETMASK, &s, NULL);
}

int main(void)
{
	on(SIGUSR1, handler, 0);
	run(1);
	run(0);
	run(1);
}
