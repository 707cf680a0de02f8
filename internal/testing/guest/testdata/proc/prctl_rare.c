// Options of prctl that few programs use, and the time stamp counter that can be forbidden.
// guest: tsc
#include "guest.h"
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <ucontext.h>

static int faults;
static void fault(int sig, siginfo_t *si, void *c)
{
	ucontext_t *u = c;
	printf("signal %d, code %d\n", sig, si->si_code);
	u->uc_mcontext.gregs[REG_RIP] += 2;
	faults++;
}

static unsigned long counter(void)
{
	unsigned lo, hi;
	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (unsigned long)hi << 32 | lo;
}

static void *thread(void *arg)
{
	int mode = 0;
	SHOW(prctl(PR_GET_TSC, &mode));
	printf("a thread has %d\n", mode);
	counter();
	SHOW(prctl(PR_SET_TSC, PR_TSC_ENABLE));
	SURE(counter() > 0);
	return NULL;
}

static void tsc(void)
{
	int mode = 0;
	struct sigaction sa = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO};
	MUST(sigaction(SIGSEGV, &sa, NULL));
	SHOW(prctl(PR_GET_TSC, &mode));
	SURE(mode == PR_TSC_ENABLE);
	SHOW(prctl(PR_SET_TSC, 0));
	SHOW(prctl(PR_SET_TSC, 3));
	SHOW(prctl(PR_GET_TSC, NULL));
	unsigned long before = counter();
	SURE(counter() > before);
	SHOW(prctl(PR_SET_TSC, PR_TSC_SIGSEGV));
	counter();
	pthread_join(start(thread, NULL), NULL);
	counter();
	pid_t pid = MUST(fork());
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		counter();
		_exit(1);
	}
	show_wait("a child that counts", pid);
	SHOW(prctl(PR_SET_TSC, PR_TSC_ENABLE));
	SURE(counter() > before);
	printf("%d faults\n", faults);
}

int main(void)
{
	tsc();
	SHOW(prctl(PR_GET_TIMING));
	SHOW(prctl(PR_SET_TIMING, PR_TIMING_TIMESTAMP));
	SHOW(prctl(PR_SET_TIMING, PR_TIMING_STATISTICAL));
	SHOW(prctl(PR_GET_NO_NEW_PRIVS, 1, 0, 0, 0));
	SHOW(prctl(PR_SET_NO_NEW_PRIVS, 1, 1, 0, 0));
	SHOW(prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0));
	SHOW(prctl(PR_GET_THP_DISABLE, 1, 0, 0, 0));
	SHOW(prctl(PR_SET_THP_DISABLE, 0, 0, 0, 1));
	SHOW(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0));
	SHOW(prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0));
	pid_t pid = MUST(fork());
	if (!pid) {
		SHOW(prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0));
		_exit(0);
	}
	show_wait("a child", pid);
	SHOW(prctl(PR_MCE_KILL_GET, 0, 0, 0, 0));
	SHOW(prctl(PR_MCE_KILL, PR_MCE_KILL_SET, PR_MCE_KILL_EARLY, 0, 0));
	SHOW(prctl(PR_MCE_KILL_GET, 0, 0, 0, 0));
	SHOW(prctl(PR_MCE_KILL, PR_MCE_KILL_SET, PR_MCE_KILL_LATE, 0, 0));
	SHOW(prctl(PR_MCE_KILL_GET, 0, 0, 0, 0));
	SHOW(prctl(PR_MCE_KILL, PR_MCE_KILL_SET, 7, 0, 0));
	SHOW(prctl(PR_MCE_KILL, PR_MCE_KILL_CLEAR, 1, 0, 0));
	SHOW(prctl(PR_MCE_KILL, 9, 0, 0, 0));
	SHOW(prctl(PR_MCE_KILL_GET, 1, 0, 0, 0));
	SHOW(prctl(PR_MCE_KILL, PR_MCE_KILL_CLEAR, 0, 0, 0));
	SHOW(prctl(PR_MCE_KILL_GET, 0, 0, 0, 0));
	int n;
	SHOW(prctl(PR_GET_ENDIAN, &n));
	SHOW(prctl(PR_GET_FPEMU, &n));
	SHOW(prctl(PR_GET_FPEXC, &n));
	SHOW(prctl(PR_GET_UNALIGN, &n));
	SHOW(prctl(PR_GET_SPECULATION_CTRL, 0, 1, 0, 0));
	SHOW(prctl(PR_GET_SPECULATION_CTRL, 99, 0, 0, 0));
	return 0;
}
