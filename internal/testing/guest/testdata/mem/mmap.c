// Mapping, protecting, moving and forgetting memory.
#include "guest.h"

static sigjmp_buf back;
static void handler(int sig) { siglongjmp(back, 1); }

static void touch(const char *what, volatile char *p, int write)
{
	if (sigsetjmp(back, 1))
		printf("%s: fault\n", what);
	else {
		char c = *p;
		if (write)
			*p = c + 1;
		printf("%s: %d\n", what, *p);
	}
}

int main(void)
{
	on(SIGSEGV, handler, 0);
	char *m = mmap(NULL, 5 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	touch("fresh", m, 1);
	SHOW(mprotect(m, 4096, PROT_READ));
	touch("read-only read", m, 0);
	touch("read-only write", m, 1);
	SHOW(mprotect(m, 4096, PROT_NONE));
	touch("none", m, 0);
	SHOW(mprotect(m, 4096, PROT_READ | PROT_WRITE));
	touch("again", m, 1);
	SHOW(munmap(m + 4096, 4096));
	touch("hole", m + 4096, 0);
	touch("after the hole", m + 2 * 4096, 1);
	char *f = mmap(m + 4096, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	SURE(f == m + 4096);
	touch("filled", f, 1);
	SURE(mmap(m, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED && errno == EEXIST);
	SHOW(madvise(m, 4096, MADV_DONTNEED));
	touch("forgotten", m, 0);
	strcpy(m, "moves");
	char *n = mremap(m, 4096, 100 * 4096, MREMAP_MAYMOVE);
	SURE(n != MAP_FAILED);
	printf("%s\n", n);
	touch("end", n + 100 * 4096 - 1, 1);
	SURE(mremap(n, 100 * 4096, 4096, 0) == n);
	touch("cut off", n + 4096, 0);
	SHOW(munmap(n + 1, 4096));
	SHOW(mprotect(n + 1, 4096, PROT_READ));
	SHOW(madvise(n, 4096, 9999));
	SHOW(mlock(n, 4096));
	SHOW(munlock(n, 4096));
	unsigned char vec;
	SHOW(mincore(n, 4096, &vec));
	SURE(vec & 1);
}
