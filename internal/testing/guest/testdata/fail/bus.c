// Pages of a mapping behind the end of its file raise SIGBUS; calls that are given them fail with EFAULT.
#include "guest.h"

static sigjmp_buf back;
static void caught(int sig, siginfo_t *i, void *x)
{
	(void)x;
	printf("got %s, code %s\n", sigabbrev_np(sig), i->si_code == BUS_ADRERR ? "BUS_ADRERR" : "other");
	siglongjmp(back, 1);
}

int main(void)
{
	struct sigaction a = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO};
	MUST(sigaction(SIGBUS, &a, NULL));
	int f = MUST(open("f", O_RDWR | O_CREAT, 0600)), g = MUST(open("g", O_RDWR | O_CREAT, 0600));
	MUST(ftruncate(f, 8192));
	volatile char *m = mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
	m[4096] = 1;
	if (!sigsetjmp(back, 1))
		m[8192] = 1;
	MUST(ftruncate(f, 100));
	if (!sigsetjmp(back, 1))
		printf("%d\n", m[4096]);
	SHOW(write(g, (void *)(m + 4096), 1));
	SHOW(read(g, (void *)(m + 4096), 1));
	SHOW(pwrite(g, "0123456789", 10, 0));
	SHOW(pread(g, (void *)(m + 4090), 10, 0));
	MUST(ftruncate(f, 8192));
	printf("%d\n", m[4096]);
	MUST(ftruncate(f, 0));
	pid_t c = MUST(fork());
	if (!c) {
		signal(SIGBUS, SIG_DFL);
		m[0] = 1;
		_exit(0);
	}
	show_wait("without a handler", c);
}
