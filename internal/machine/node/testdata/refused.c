// Linux refuses a call that would change a mapping. Its number is the argument.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

int main(int argc, char **argv)
{
	const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS, both = PROT_READ | PROT_WRITE;
	for (int i = 0; i < 5; i++) sleep(1);
	char *p = mmap(NULL, 2 * PAGE, both, anonymous, -1, 0);
	p[0] = p[PAGE] = 1;
	for (int i = 0;; i++) {
		printf("%d %d\n", p[0], p[PAGE]);
		fflush(stdout);
		sleep(1);
		if (i == 2)
			switch (atoi(argv[1])) { // the address is not that of a page, or something is there
			case 0: munmap(p + 1, 1); break;
			case 1: madvise(p + 1, 1, MADV_DONTNEED); break;
			case 2: mmap(p + 1, 1, both, anonymous | MAP_FIXED, -1, 0); break;
			default: mmap(p, PAGE, both, anonymous | MAP_FIXED | MAP_FIXED_NOREPLACE, -1, 0);
			}
		if (i == 4) p[0] = p[PAGE] = 2;
	}
}
