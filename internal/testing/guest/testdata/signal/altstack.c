// A handler on its own stack, even when the usual one is used up.
#include "guest.h"

static char alt[65536];
static sigjmp_buf back;
static volatile int on_alt;

static void handler(int sig)
{
	char here;
	stack_t s;
	sigaltstack(NULL, &s);
	on_alt = &here > alt && &here < alt + sizeof alt && (s.ss_flags & SS_ONSTACK);
	stack_t n = {.ss_sp = alt, .ss_size = sizeof alt};
	if (sig == SIGUSR1)
		SHOW(sigaltstack(&n, NULL));
	if (sig == SIGSEGV)
		siglongjmp(back, 1);
}

static int overflow(volatile int *up)
{
	volatile int here[1000];
	here[0] = *up + 1;
	return overflow(here) + here[0];
}

int main(void)
{
	stack_t s = {.ss_sp = alt, .ss_size = sizeof alt}, old, small = {.ss_sp = alt, .ss_size = 100};
	volatile int zero = 0;
	SHOW(sigaltstack(NULL, &old));
	SURE(old.ss_flags == SS_DISABLE);
	SHOW(sigaltstack(&small, NULL));
	SHOW(sigaltstack(&s, NULL));
	on(SIGUSR1, handler, SA_ONSTACK);
	raise(SIGUSR1);
	SHOW(on_alt);
	on(SIGUSR2, handler, 0);
	raise(SIGUSR2);
	SHOW(on_alt);
	on(SIGSEGV, handler, SA_ONSTACK);
	if (sigsetjmp(back, 1) == 0)
		overflow(&zero);
	printf("back, on own stack %d\n", on_alt);
	if (sigsetjmp(back, 1) == 0)
		overflow(&zero);
	printf("back again\n");
	s.ss_flags = SS_DISABLE;
	SHOW(sigaltstack(&s, &old));
	SURE(old.ss_sp == alt && old.ss_size == sizeof alt);
}
