// Faults where the handler cannot run: the signal is blocked, the stack has no room.
#include "guest.h"
#include <cpuid.h>
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

static int blocked(void)
{
	sigset_t now;
	sigprocmask(SIG_BLOCK, NULL, &now);
	return sigismember(&now, SIGSEGV);
}

static void counts(int sig)
{
	SURE(__rdtsc() > 0);
	printf("in a handler: %d\n", blocked());
}

// What is trapped to be answered changes no mask and no action, whatever they are.
static void counter(void)
{
	unsigned a, b, c, d;
	block(SIG_BLOCK);
	SURE(__rdtsc() > 0);
	SHOW(blocked());
	__cpuid(0, a, b, c, d);
	SHOW(blocked());
	signal(SIGSEGV, SIG_IGN);
	SURE(__rdtsc() > 0);
	SHOW(blocked());
	SHOW(signal(SIGSEGV, SIG_DFL) == SIG_IGN);
	block(SIG_UNBLOCK);
	SURE(__rdtsc() > 0);
	SHOW(blocked());

	struct sigaction act = {.sa_handler = counts};
	sigaddset(&act.sa_mask, SIGSEGV);
	MUST(sigaction(SIGUSR1, &act, NULL));
	raise(SIGUSR1);
	SHOW(blocked());
	SURE(__rdtsc() > 0);
	block(SIG_BLOCK);
	raise(SIGUSR1);
	SURE(__rdtsc() > 0);
	SHOW(blocked());
	block(SIG_UNBLOCK);
}

int main(int argc, char **argv)
{
	char c = 0;
	sigset_t now;
	if (argc > 1) { // executed with the signal blocked
		SHOW(blocked());
		return 0;
	}
	counter();
	pid_t program = fork();
	if (program == 0) {
		block(SIG_BLOCK);
		execl("/proc/self/exe", argv[0], "again", NULL);
	}
	show_wait("executed", program);
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
