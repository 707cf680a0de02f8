// /proc/self/maps: program, heap, stack, own mappings.
#include "proc.h"

static int within(void *p, const char *name)
{
	char *t = slurp("/proc/self/maps");
	for (char *l = strtok(t, "\n"); l; l = strtok(NULL, "\n")) {
		unsigned long from, to;
		if (sscanf(l, "%lx-%lx", &from, &to) == 2 && from <= (unsigned long)p && (unsigned long)p < to)
			return !name || strstr(l, name) != NULL;
	}
	return 0;
}

int main(void)
{
	char local;
	void *heap = malloc(10), *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = MUST(open("some-file", O_RDWR | O_CREAT, 0600));
	MUST(ftruncate(fd, 4096));
	void *f = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	SURE(within(&local, "[stack]"));
	SURE(within(heap, "[heap]"));
	SURE(within(main, "procfs_maps"));
	SURE(within(printf, "libc"));
	SURE(within(m, NULL));
	SURE(within(f, "some-file"));
	munmap(f, 4096);
	SURE(!within(f, "some-file"));
	SURE(strstr(slurp("/proc/self/maps"), "[vdso]") != NULL);
}
