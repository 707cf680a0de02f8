// Ariadne's pages in the program's memory: taking them away, changing what they are,
// writing to them. The clock goes on, and nothing breaks. What is code in them stays as it is: calls
// are made there in the program's name.
#include "hostile.h"
#include <sys/uio.h>
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

static unsigned char code[0x2000]; // as it was

// same is 1 when the code is as it was.
static void same(const char *what)
{
	if (memcmp((void *)(AREA + 0x1000), code, sizeof code))
		printf("escaped: %s changes the code\n", what);
}

// write_code tries to write where all is code, in every way that memory is written.
static void write_code(void)
{
	for (unsigned long at = AREA + 0x1000; at < AREA + 0x3000; at += 0x400) {
		static char junk[64];
		memset(junk, 0xcc, sizeof junk);
		for (int other = 0; other < 2; other++) {
			char name[32];
			snprintf(name, sizeof name, "/proc/%d/mem", other ? getppid() : getpid());
			int fd = open(name, O_RDWR);
			TRY("/proc/PID/mem", fd >= 0 && pwrite(fd, junk, sizeof junk, at) > 0);
			close(fd);
			struct iovec l = {junk, sizeof junk}, r = {(void *)at, sizeof junk};
			TRY("process_vm_writev", process_vm_writev(other ? getppid() : getpid(), &l, 1, &r, 1, 0) > 0);
		}
		int p[2];
		pipe(p);
		write(p[1], junk, sizeof junk);
		TRY("read", read(p[0], (void *)at, sizeof junk) > 0);
		write(p[1], junk, sizeof junk);
		int fd = open("/proc/self/exe", O_RDONLY);
		TRY("read of a file", read(fd, (void *)at, sizeof junk) > 0);
		TRY("pread of a file", pread(fd, (void *)at, sizeof junk, 0) > 0);
		TRY("fstat", fstat(fd, (void *)at) == 0);
		TRY("getrandom", syscall(SYS_getrandom, at, sizeof junk, 0) > 0);
		close(fd), close(p[0]), close(p[1]);
		same("writing to it");
	}
}

// protect tries to make the code something that can be written.
static void protect(void)
{
	char *a = (void *)(AREA + 0x1000);
	TRY("remap_file_pages", syscall(SYS_remap_file_pages, a, 4096, 0, 2, 0) == 0);
	TRY("remap_file_pages over", syscall(SYS_remap_file_pages, AREA, 0x6000, 0, 2, 0) == 0);
	TRY("mprotect down", mprotect(a, 4096, PROT_READ | PROT_WRITE | PROT_EXEC | 0x01000000) == 0);
	TRY("mprotect up", mprotect(a, 4096, PROT_READ | PROT_WRITE | PROT_EXEC | 0x02000000) == 0);
	TRY("mprotect long", mprotect((void *)0x1000, AREA, PROT_READ | PROT_WRITE) == 0);
	for (int advice = 0; advice < 30; advice++)
		if (madvise(a, 4096, advice) == 0 && advice != 0 && advice > 3)
			printf("escaped: madvise %d\n", advice);
	struct iovec v = {a, 4096};
	int self = syscall(434, getpid(), 0);
	for (int advice = 4; advice < 30; advice++) // MADV_COLD and PAGEOUT change nothing
		TRY("process_madvise", advice != 20 && advice != 21 && syscall(440, self, &v, 1, advice, 0) > 0);
	close(self);
	TRY("mmap", mmap(a - 0x3000, 0x4000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
	TRY("mmap shared", mmap(a, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
	TRY("mmap at no other place", mmap(a, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | 0x100000, -1, 0) != MAP_FAILED);
	void *below = mmap((void *)(AREA - 0x1000), 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | 0x100000, -1, 0);
	void *above = mmap((void *)(AREA + 0x6000), 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | 0x100000, -1, 0);
	TRY("mremap longer", mremap(below, 4096, 0x3000, 0) != MAP_FAILED);
	TRY("mremap in its midst", mremap(below, 0x3000, 4096, MREMAP_MAYMOVE) != MAP_FAILED);
	TRY("mprotect from above", above != MAP_FAILED && mprotect(above, 4096, PROT_READ | PROT_WRITE | 0x01000000) != 0 && errno != EINVAL);
	int id = shmget(IPC_PRIVATE, 0x10000, 0600);
	TRY("shmat over", shmat(id, (void *)(AREA - 0x4000), SHM_REMAP) != (void *)-1);
	TRY("shmat", shmat(id, a, 0) != (void *)-1);
	shmctl(id, IPC_RMID, 0);
	munmap(below, 4096), munmap(above, 4096);
	same("making it writable");
}

// kept looks at the code once more after a program has run that shares the memory.
static void kept(void)
{
	write_code();
	protect();
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[2], "again")) {
		still("exec");
		puts("done");
		return 0;
	}
	memcpy(code, (void *)(AREA + 0x1000), sizeof code);
	kept();
	in_child(kept);
	fflush(stdout);
	if (vfork() == 0) {
		kept();
		_exit(0);
	}
	same("a child");
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
