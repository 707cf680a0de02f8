// What is locked is counted, up to a limit, and forgotten by children.
// guest: root
#include "guest.h"

static long field(const char *path, const char *name)
{
	FILE *f = fopen(path, "r");
	char line[200];
	long kb = -1;
	while (fgets(line, sizeof line, f))
		if (strncmp(line, name, strlen(name)) == 0)
			kb = atol(line + strlen(name) + 1);
	fclose(f);
	return kb;
}

#define LOCKED() printf("locked %ld\n", field("/proc/self/status", "VmLck"))

int main(void)
{
	size_t page = 4096;
	char *p = mmap(NULL, 16 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(p + 8 * page, page);
	LOCKED();
	SHOW(mlock(p, 100));
	LOCKED();
	SHOW(mlock(p + page - 10, 20));
	LOCKED();
	SHOW(mlock(p, 2 * page));
	LOCKED();
	SHOW(munlock(p, 1));
	LOCKED();
	SHOW(mlock(p, 16 * page));
	LOCKED();
	SHOW(munlock(p + 6 * page, 8 * page));
	LOCKED();
	SHOW(munlock(p + 8 * page, page));
	SHOW(mlock(p + 8 * page, page));
	SHOW(mlock(p, -1));
	SHOW(mlock(p + 100, -page));
	SHOW(mlock(p, 0));
	SHOW(mlock2(p, page, 2));
	SHOW(mlock2(p, page, MLOCK_ONFAULT));
	if (fork() == 0) {
		LOCKED();
		exit(0);
	}
	wait(NULL);
	munmap(p, 2 * page);
	LOCKED();
	SHOW(munlockall());
	LOCKED();
	SHOW(mlockall(0));
	SHOW(mlockall(MCL_ONFAULT));
	SHOW(mlockall(8));
	SHOW(mlockall(MCL_CURRENT));
	printf("all: %d\n", field("/proc/self/status", "VmLck") > 1000);
	SHOW(munlockall());
	SHOW(mlockall(MCL_FUTURE));
	LOCKED();
	munlockall();

	// What is locked is not to be taken away, and stays locked where it moves to.
	SHOW(mlock(p + 4 * page, page));
	p[2 * page] = p[4 * page] = p[5 * page] = 1;
	SHOW(madvise(p + 2 * page, 6 * page, MADV_DONTNEED));
	printf("%d %d %d\n", p[2 * page], p[4 * page], p[5 * page]);
	SHOW(madvise(p + 4 * page, page, MADV_FREE));
	SHOW(madvise(p + 4 * page, page, MADV_COLD));
	SHOW(madvise(p + 4 * page, page, MADV_WILLNEED));
	SHOW(madvise(p + 4 * page + 1, page, MADV_DONTNEED));
	SHOW(msync(p + 2 * page, 6 * page, MS_ASYNC));
	SHOW(msync(p + 2 * page, 2 * page, MS_ASYNC | MS_INVALIDATE));
	SHOW(msync(p + 2 * page, 2 * page + 1, MS_ASYNC | MS_INVALIDATE));
	SHOW(msync(p + 2 * page, 6 * page, MS_SYNC | MS_INVALIDATE));
	SHOW(msync(p + 4 * page, 6 * page, MS_INVALIDATE));
	SHOW(msync(p + 4 * page, 0, MS_INVALIDATE));
	SHOW(msync(p + 4 * page + 1, page, MS_INVALIDATE));
	SHOW(msync(p + 4 * page, page, MS_SYNC | MS_ASYNC | MS_INVALIDATE));
	SHOW(msync(p + 4 * page, page, 8 | MS_INVALIDATE));
	SHOW(msync(p + 5 * page, 6 * page, MS_SYNC | MS_INVALIDATE));
	SHOW(munmap(p + 4 * page, page));
	SHOW(msync(p + 2 * page, 6 * page, MS_SYNC | MS_INVALIDATE));
	SHOW(mmap(p + 4 * page, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p + 4 * page);
	SHOW(madvise(p + 4 * page, page, MADV_DONTNEED));
	LOCKED();
	SHOW(mlock(p + 4 * page, page));
	SHOW(mmap(p + 4 * page, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p + 4 * page);
	LOCKED();
	char *q = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0);
	LOCKED();
	SHOW(madvise(q, page, MADV_DONTNEED));
	q = mremap(q, 2 * page, 5 * page, MREMAP_MAYMOVE);
	LOCKED();
	SHOW(madvise(q + 4 * page, page, MADV_DONTNEED));
	q = mremap(q, 5 * page, page, 0);
	LOCKED();
	SHOW(munmap(q, page));
	LOCKED();
	SHOW(mlockall(MCL_FUTURE));
	q = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	SHOW(madvise(q, page, MADV_DONTNEED));
	SHOW(madvise(p + 2 * page, page, MADV_DONTNEED));
	SHOW(munlockall());
	SHOW(madvise(q, page, MADV_DONTNEED));

	struct rlimit l = {3 * page, 3 * page};
	SHOW(setrlimit(RLIMIT_MEMLOCK, &l));
	SHOW(mlock(p + 2 * page, 5 * page));
	SHOW(setuid(65534));
	SHOW(mlock(p + 2 * page, 5 * page));
	SHOW(mlock(p + 2 * page, 3 * page));
	SHOW(mlock(p + 2 * page, 3 * page));
	SHOW(munlockall());
	SHOW(mlock(p + 2 * page, 2 * page));
	SHOW(mlock(p + 5 * page, 2 * page));
	SHOW(mlockall(MCL_CURRENT));
	SHOW(mmap(NULL, 2 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0) == MAP_FAILED ? -1 : 0);
	l.rlim_cur = 0;
	SHOW(setrlimit(RLIMIT_MEMLOCK, &l));
	SHOW(mlock(p + 5 * page, page));
	SHOW(mmap(NULL, 2 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0) == MAP_FAILED ? -1 : 0);
	SHOW(munlock(p + 5 * page, page));
	return 0;
}
