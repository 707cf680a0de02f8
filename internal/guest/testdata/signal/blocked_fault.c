// Faults where the handler cannot run: the signal is blocked, the stack has no room.
#include "guest.h"
#include <x86intrin.h>

static char alt[65536];
static sigjmp_buf back;

static void handler(int sig) { siglongjmp(back, sig); }

static void block(int how)
{
	sigset_t s;
	sigemptyset(&s);
	sigaddset(&s, SIGSEGV);
	sigprocmask(how, &s, NULL);
}

static void fault(void) { *(volatile int *)16 = 1; }

static int endless(volatile char *up)
{
	volatile char here[10000];
	here[0] = up[0];
	return endless(here) + here[0];
}

static void no_core(void)
{
	struct rlimit none = {0, 0};
	setrlimit(RLIMIT_CORE, &none);
}

int main(void)
{
	char c = 0;
	sigset_t now;
	on(SIGSEGV, handler, 0);
	pid_t child = fork();
	if (child == 0) {
		no_core();
		block(SIG_BLOCK);
		fault();
	}
	show_wait("blocked", child);
	child = fork();
	if (child == 0) {
		no_core();
		endless(&c);
	}
	show_wait("no room", child);

	// The time stamp counter is no fault, blocked or not.
	block(SIG_BLOCK);
	SURE(__rdtsc() > 0);
	sigprocmask(SIG_BLOCK, NULL, &now);
	SURE(sigismember(&now, SIGSEGV));
	block(SIG_UNBLOCK);
	int sig = sigsetjmp(back, 1);
	if (sig == 0)
		fault();
	printf("%s\n", sigabbrev_np(sig));

	// No room for the frame of another signal: its handler's fault has room.
	stack_t s = {.ss_sp = alt, .ss_size = sizeof alt};
	MUST(sigaltstack(&s, NULL));
	on(SIGSEGV, handler, SA_ONSTACK);
	on(SIGUSR1, nothing, 0);
	sig = sigsetjmp(back, 1);
	if (sig == 0)
		__asm__ volatile("mov $16, %%rsp; mov %0, %%edi; mov %1, %%esi; mov $200, %%eax; syscall"
			: : "r"(gettid()), "i"(SIGUSR1) : "rdi", "rsi", "rax", "memory");
	printf("%s\n", sigabbrev_np(sig));
}
