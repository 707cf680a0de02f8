// Memory gets larger without a call, in steps that map other memory.
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, BELOW = 600 };

int main(void)
{
	const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS, both = PROT_READ | PROT_WRITE;
	for (int i = 0; i < 4; i++) sleep(1);
	char *hole = mmap(NULL, BELOW * PAGE, PROT_NONE, anonymous, -1, 0);
	munmap(hole, BELOW * PAGE);
	char *end = hole + 500 * PAGE;
	mmap(end - PAGE, PAGE, both, anonymous | MAP_GROWSDOWN | MAP_FIXED, -1, 0);
	for (int i = 0; i < 4; i++) sleep(1);
	for (int i = 1;; i++) {
		*(char *)mmap(NULL, PAGE, both, anonymous, -1, 0) = i;
		end[-i * PAGE] = i;
		printf("%d\n", i);
		fflush(stdout);
		sleep(1);
	}
}
