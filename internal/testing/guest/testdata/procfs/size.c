// The size of a process is that of its mappings, in all files that tell it.
#include "../guest.h"
#include "proc.h"

static void sizes(const char *when)
{
	char *maps = slurp("/proc/self/maps");
	unsigned long sum = 0, start, end;
	for (char *line = maps; line && *line; line = strchr(line, '\n'), line += line != NULL) {
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && start < 1UL << 63) // [vsyscall] is none of its own
			sum += end - start;
	}
	char *stat = strrchr(slurp("/proc/self/stat"), ')') + 2;
	unsigned long vsize = 0;
	for (int i = 3; i < 23; i++)
		stat = strchr(stat, ' ') + 1;
	vsize = strtoul(stat, NULL, 10);
	printf("%s: statm %d, stat %d, status %d\n", when, strtoul(slurp("/proc/self/statm"), NULL, 10) * 4096 == sum,
		vsize == sum, strtoul(field(slurp("/proc/self/status"), "VmSize"), NULL, 10) * 1024 == sum);
}

static void *thread(void *arg)
{
	sizes("thread");
	return arg;
}

static int deep(int n)
{
	volatile char b[4096];
	memset((char *)b, n, sizeof b);
	return n == 0 ? b[1] : deep(n - 1) + b[7];
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		sizes("executed");
		return 0;
	}
	sizes("first");
	sizes("second");
	char *m = mmap(NULL, 10 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sizes("mapped");
	munmap(m + (1 << 20), 2 << 20);
	mprotect(m, 4096, PROT_NONE);
	sizes("unmapped");
	deep(300);
	sizes("deep");
	pthread_t t;
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	sizes("joined");
	if (fork() == 0) {
		sizes("child");
		execl("/proc/self/exe", argv[0], "again", NULL);
		_exit(1);
	}
	wait(NULL);
	sizes("parent");
}
