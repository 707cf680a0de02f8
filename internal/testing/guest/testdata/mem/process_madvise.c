// Advice on one's own memory by pidfd.
#include "guest.h"
#include <sys/mman.h>
#include <sys/uio.h>

#ifndef MADV_COLD
#define MADV_COLD 20
#define MADV_PAGEOUT 21
#endif

static long advise(int fd, struct iovec *v, size_t n, int advice, unsigned flags)
{
	return syscall(440, fd, v, n, advice, flags);
}

int main(void)
{
	char *p = mmap(NULL, 5 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(p, 'x', 5 * 4096);
	munmap(p + 4 * 4096, 4096);
	int self = MUST(syscall(SYS_pidfd_open, getpid(), 0));
	struct iovec v[] = {{p, 4096}, {p + 8192, 8192}, {p + 1, 4096}};
	SHOW(advise(self, v, 2, MADV_COLD, 0));
	SHOW(advise(self, v, 2, MADV_PAGEOUT, 0));
	SHOW(advise(self, v, 2, MADV_WILLNEED, 0));
	SHOW(advise(self, v, 3, MADV_COLD, 0));
	SHOW(advise(self, v + 2, 1, MADV_COLD, 0));
	SHOW(advise(self, v, 0, MADV_COLD, 0));
	SHOW(advise(self, v, 2, MADV_COLD, 1));
	SHOW(advise(self, v, 2, 12345, 0));
	SHOW(advise(self, v, 2000, MADV_COLD, 0));
	SHOW(advise(self, NULL, 2, MADV_COLD, 0));
	SHOW(advise(99, v, 2, MADV_COLD, 0));
	SHOW(advise(0, v, 2, MADV_COLD, 0));
	SHOW(p[0] == 'x' && p[3 * 4096] == 'x');
}
