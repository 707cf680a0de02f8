// Ariadne's pages in the program's memory: taking them away, changing what they are,
// writing to them. The clock goes on, and nothing breaks.
#include "hostile.h"
#include <sys/auxv.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <time.h>

// The page of the clock, the vDSO, scratch memory.
#define AREA (getauxval(AT_SYSINFO_EHDR) - 0x1000)

static long now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec;
}

// still is 1 when all that rests on the pages works.
static int still(const char *what)
{
	char name[64];
	snprintf(name, sizeof name, "/tmp/%s", "still");
	int fd = open(name, O_CREAT | O_RDWR, 0600), p[2];
	struct stat st;
	int ok = fd >= 0 && fstat(fd, &st) == 0 && pipe(p) == 0 && now() > 1600000000 && now() < 1800000000;
	close(fd), close(p[0]), close(p[1]);
	if (!ok)
		printf("broken by %s\n", what);
	return ok;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[2], "again")) {
		still("exec");
		puts("done");
		return 0;
	}
	const unsigned long at[] = {AREA, AREA + 0x1000, AREA + 0x2000, AREA + 0x3000, AREA + 0x5000};
	for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
		void *a = (void *)at[i];
		TRY("munmap", munmap(a, 4096) == 0);
		TRY("mprotect", mprotect(a, 4096, PROT_NONE) == 0);
		TRY("mprotect writable", mprotect(a, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
		TRY("pkey_mprotect", syscall(SYS_pkey_mprotect, a, 4096, PROT_READ, -1) == 0);
		TRY("madvise", madvise(a, 4096, MADV_REMOVE) == 0);
		TRY("madvise", madvise(a, 4096, MADV_DONTFORK) == 0);
		TRY("mremap", mremap(a, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)0x100000000) != MAP_FAILED);
		TRY("mremap copy", mremap(a, 0, 4096, MREMAP_MAYMOVE) != MAP_FAILED);
		TRY("mmap", mmap(a, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
		int fd = open("/proc/self/exe", O_RDONLY);
		TRY("mmap file", mmap(a, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) != MAP_FAILED);
		close(fd);
		int id = shmget(IPC_PRIVATE, 4096, 0600);
		TRY("shmat", shmat(id, a, SHM_REMAP) != (void *)-1);
		shmctl(id, IPC_RMID, 0);
		void *m = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		TRY("mremap onto", mremap(m, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, a) != MAP_FAILED);
		still("calls on one page");
	}
	TRY("munmap over", munmap((void *)(AREA - 0x1000), 0x10000) == 0);
	TRY("munmap long", munmap((void *)0x600000000000, 0x1ffffc000000) == 0);
	TRY("mprotect over", mprotect((void *)(AREA - 0x1000), 0x10000, PROT_READ) == 0);
	still("calls over them");
	TRY("vDSO of Linux's", syscall(SYS_arch_prctl, 0x2003, 0x200000000) >= 0);
	for (int i = 0; i < 3; i++) {
		memset((void *)AREA, i ? 0xff : 0x7f, 4096);
		if (i == 2)
			memset((void *)AREA, 0, 4096);
		getppid();
		still("writing to the clock");
		memset((void *)(AREA + 0x3000), 0xff, 0x3000);
		still("writing to the scratch memory");
	}
	fflush(stdout);
	execl("/proc/self/exe", argv[0], argv[1], "again", (char *)0);
	puts("exec failed");
}
