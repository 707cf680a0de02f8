// ppoll swaps the signal mask for the time of its wait, and no longer.
#include "guest.h"

static volatile sig_atomic_t got;
static void handler(int sig) { got = sig; }

int main(void)
{
	sigset_t usr, none, now;
	struct timespec zero = {0, 0}, bad = {0, 2000000000}, some = {0, 20000000};
	int p[2];
	MUST(pipe(p));
	struct pollfd f = {.fd = p[0], .events = POLLIN};
	on(SIGUSR1, handler, SA_RESTART);
	sigemptyset(&none);
	sigemptyset(&usr);
	sigaddset(&usr, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr, NULL);
	raise(SIGUSR1);
	SHOW(ppoll(&f, 1, &some, NULL));
	SURE(got == 0);
	SHOW(ppoll(&f, 1, NULL, &none));
	SURE(got == SIGUSR1);
	sigprocmask(SIG_SETMASK, NULL, &now);
	SURE(sigismember(&now, SIGUSR1));
	got = 0;
	MUST(write(p[1], "x", 1));
	raise(SIGUSR1);
	SHOW(ppoll(&f, 1, NULL, &none));
	printf("handled %d\n", got != 0);
	SHOW(ppoll(&f, 1, &zero, &usr));
	SHOW(ppoll(&f, 1, &bad, NULL));
}
