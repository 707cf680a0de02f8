// The time stamp counter and cpuid with prefixes that say nothing, as compilers and assemblers put
// them in to fill a place; with too many of them; at the end of the memory; where the program may
// execute and not read.
#include "guest.h"

static char *page;
static sigjmp_buf back;

static void broken(int sig) { siglongjmp(back, sig); }

// tsc runs the instructions and returns rdx:rax.
static unsigned long long tsc(char *at)
{
	unsigned long long a, d;
	__asm__ volatile("call *%2" : "=a"(a), "=d"(d) : "r"(at) : "rbx", "rcx", "memory");
	return d << 32 | (unsigned)a;
}

static void try(const char *name, const char *code, int n, char *at)
{
	memcpy(at, code, n);
	at[n] = 0xc3;
	int sig = sigsetjmp(back, 1);
	if (sig) {
		printf("%s: %s\n", name, sigabbrev_np(sig));
		return;
	}
	unsigned long long one = tsc(at), two = tsc(at);
	printf("%s: %s\n", name, one < two ? "forward" : "not forward");
}

#define TRY(code) try(#code, code, sizeof code - 1, page)

int main(void)
{
	on(SIGSEGV, broken, 0);
	on(SIGILL, broken, 0);
	page = mmap(0, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(page + 4096, 4096);
	TRY("\x0f\x31");
	TRY("\x66\x0f\x31");
	TRY("\x67\x0f\x31");
	TRY("\xf2\x0f\x31");
	TRY("\xf3\x0f\x31");
	TRY("\x2e\x0f\x31");
	TRY("\x64\x0f\x31");
	TRY("\x65\x0f\x31");
	TRY("\x40\x0f\x31");
	TRY("\x48\x0f\x31");
	TRY("\x66\x4f\x0f\x31");
	TRY("\x48\x66\x0f\x31");
	TRY("\x66\xf3\x36\x67\x41\x0f\x31");
	TRY("\xf0\x0f\x31");
	TRY("\x0f\x01\xf9");
	TRY("\x48\x0f\x01\xf9");
	TRY("\x67\x0f\x01\xf9");
	TRY("\x2e\x41\x0f\x01\xf9");
	TRY("\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x0f\x31");
	TRY("\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x0f\x31");
	try("at the end", "\xf2\x0f\x31", 3, page + 4092);
	TRY("\x31\xc0\x31\xc9\x66\x48\x0f\xa2\x31\xd2\x0f\x31"); // cpuid, then the counter
	memcpy(page + 512, "\x31\xc0\x31\xc9\x67\x4f\x0f\xa2\x31\xd2\x48\x0f\x31\xc3", 14);
	mprotect(page, 4096, PROT_EXEC);
	if (sigsetjmp(back, 1) == 0)
		SURE(tsc(page + 512) < tsc(page + 512));
	else
		puts("not to be executed");
}
