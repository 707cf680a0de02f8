// Maps memory, changes its rights, gives it back, and makes its heap longer and shorter, by chance.
// It says what is where after each second. With a second argument there is a child that opens
// files.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, MOST = 48 };

static char *pages[MOST]; // those that are mapped
static int rights[MOST], used;
static char *base;
static int heap; // how many pages it has beyond base
static unsigned long state;

static unsigned next(unsigned below)
{
	state = state * 6364136223846793005UL + 1442695040888963407UL;
	return (unsigned)(state >> 33) % below;
}

// run chooses pages that adjoin: the first one, and how many there are.
static int run(int *count)
{
	int first = next(used), n = 1;
	while (n < 3 && first + n < used && pages[first + n] == pages[first] + n * PAGE && next(3)) n++;
	*count = n;
	return first;
}

static void add(char *at, int n, int prot)
{
	for (int i = 0; i < n; i++) {
		pages[used] = at + i * PAGE;
		rights[used++] = prot;
	}
}

static void change(void)
{
	char *at;
	int n, first, prot = next(4) ? PROT_READ | PROT_WRITE : next(2) ? PROT_READ : PROT_NONE;
	switch (used ? next(10) : 0) {
	case 0:
	case 1:
		if ((n = 1 + next(4)) + used <= MOST)
			add(mmap(NULL, n * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), n, prot);
		break;
	case 2:
		first = run(&n);
		munmap(pages[first], n * PAGE);
		used -= n;
		memmove(pages + first, pages + first + n, (used - first) * sizeof *pages);
		memmove(rights + first, rights + first + n, (used - first) * sizeof *rights);
		break;
	case 3:
		first = run(&n);
		mprotect(pages[first], n * PAGE, prot);
		while (n--) rights[first + n] = prot;
		break;
	case 4:
		first = run(&n);
		mmap(pages[first], n * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		while (n--) rights[first + n] = prot;
		break;
	case 5:
		first = run(&n);
		madvise(pages[first], n * PAGE, MADV_DONTNEED);
		break;
	case 6: // right behind the heap
		at = (char *)(((uintptr_t)sbrk(0) + PAGE - 1) & -PAGE);
		at = mmap(at, PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (at != MAP_FAILED && used < MOST) add(at, 1, prot);
		break;
	default:
		n = next(4);
		if (!brk(base + n * PAGE + (n ? next(2) * 100 : 0))) heap = n;
	}
}

int main(int argc, char **argv)
{
	static char buffer[1 << 16];
	setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
	state = argc > 1 ? atol(argv[1]) : 0;
	base = sbrk(0);
	for (int i = 0; i < 3; i++) sleep(1);
	if (argc > 2 && !fork())
		for (usleep(500000);; sleep(7)) open("/etc/hostname", O_RDONLY);
	for (;;) {
		for (int i = next(4); i > 0; i--) {
			change();
			for (int k = 0; k < used; k++)
				if (rights[k] & PROT_WRITE && !next(3)) pages[k][next(2) * 9] = next(256);
			for (int k = 0; k < heap; k++)
				if (!next(3)) base[k * PAGE] = next(256);
		}
		for (int k = 0; k < used; k++)
			printf("%p %d %d %d\n", pages[k], rights[k], rights[k] & PROT_READ ? pages[k][0] : 0,
				rights[k] & PROT_READ ? pages[k][9] : 0);
		for (int k = 0; k < heap; k++) printf("heap %d\n", base[k * PAGE]);
		printf("to %p\n", sbrk(0));
		fflush(stdout);
		sleep(1);
	}
}
