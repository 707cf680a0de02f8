// A handler for SIGSEGV learns the address and jumps out.
#include "guest.h"

static sigjmp_buf back;
static siginfo_t info;

static void handler(int sig, siginfo_t *si, void *x)
{
	info = *si;
	siglongjmp(back, sig);
}

int main(void)
{
	struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	char *ro = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *gone = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile char *const where[] = {ro + 5, gone + 9, (char *)16};
	munmap(gone, 4096);
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
	for (int i = 0; i < 3; i++) {
		int sig = sigsetjmp(back, 1);
		if (sig == 0)
			*where[i] = 1;
		printf("%s, right address %d, mapped %d\n", sigabbrev_np(sig), info.si_addr == where[i], info.si_code == SEGV_ACCERR);
	}
	int fd = MUST(open("file", O_RDWR | O_CREAT, 0600));
	MUST(ftruncate(fd, 4096));
	volatile char *m = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
	int sig = sigsetjmp(back, 1);
	if (sig == 0)
		printf("never %d\n", m[4096]);
	printf("%s, right address %d\n", sigabbrev_np(sig), info.si_addr == m + 4096);
}
