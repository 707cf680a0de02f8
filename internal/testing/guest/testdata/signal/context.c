// A handler changes the registers it returns to.
#include "guest.h"
#include <ucontext.h>

static void skip(int sig, siginfo_t *si, void *x)
{
	ucontext_t *u = x;
	u->uc_mcontext.gregs[REG_RIP] += 2; // ud2
	u->uc_mcontext.gregs[REG_RAX] = 123;
}

int main(void)
{
	struct sigaction sa = {.sa_sigaction = skip, .sa_flags = SA_SIGINFO};
	long v = 0;
	MUST(sigaction(SIGILL, &sa, NULL));
	__asm__ volatile("mov $5, %%rax; ud2; mov %%rax, %0" : "=r"(v) : : "rax");
	SHOW(v);
	double d = 1.5;
	__asm__ volatile("ud2" : "+x"(d) : : "rax");
	printf("%.1f\n", d);
}
