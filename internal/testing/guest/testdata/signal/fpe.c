// Arithmetic, illegal instructions and break points raise signals with a reason.
#include "guest.h"

static sigjmp_buf back;
static int code;

static void handler(int sig, siginfo_t *si, void *x)
{
	code = si->si_code;
	siglongjmp(back, sig);
}

int main(void)
{
	struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	volatile int zero = 0, one = 1;
	int sig;
	sigaction(SIGFPE, &sa, NULL);
	sigaction(SIGILL, &sa, NULL);
	sigaction(SIGTRAP, &sa, NULL);
	if ((sig = sigsetjmp(back, 1)) == 0)
		one /= zero;
	SURE(sig == SIGFPE && code == FPE_INTDIV);
	if ((sig = sigsetjmp(back, 1)) == 0)
		__asm__ volatile("ud2");
	SURE(sig == SIGILL && code == ILL_ILLOPN);
	if ((sig = sigsetjmp(back, 1)) == 0)
		__asm__ volatile("int3");
	SURE(sig == SIGTRAP);
}
