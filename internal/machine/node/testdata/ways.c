// Changes mappings, or what Linux has of the process besides, in one of several ways that do not
// show in /proc/PID/maps after the step. Says what memory holds then.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { page = 4096, size = 16 * page, steps = 24 };
enum { none = PROT_NONE, ro = PROT_READ, rw = PROT_READ | PROT_WRITE, anonymous = MAP_PRIVATE | MAP_ANONYMOUS };
static char *region, *mapped; // mapped: two pages of the file f
static int file, hits, step;

// reprotect makes the region writable for one store.
static int reprotect(int before) {
	mprotect(region, size, rw);
	int x = ++region[0];
	mprotect(region, size, before);
	return x;
}

static void open_file(void) {
	char block[2 * page];
	memset(block, 'A', sizeof block);
	file = open("f", O_RDWR | O_CREAT, 0600);
	pwrite(file, block, sizeof block, 0);
	mapped = mmap(0, sizeof block, rw, MAP_PRIVATE, file, 0);
}

static int write_file(char c) {
	pwrite(file, &c, 1, 0);
	return mapped[0];
}

static sigjmp_buf jump;
static void leave_handler(int s) {
	hits++;
	siglongjmp(jump, 1);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int go;
static void *say(void *unused) {
	for (;;) {
		pthread_mutex_lock(&mutex);
		while (!go) pthread_cond_wait(&ready, &mutex);
		go = 0;
		pthread_mutex_unlock(&mutex);
		write(1, "B\n", 2);
	}
}

static void limit_files(int n) {
	struct rlimit l = {n, n};
	setrlimit(RLIMIT_NOFILE, &l);
}

// change does it, at every second step from the ninth on unless it says otherwise.
static int change(const char *way) {
	int even = step >= 8 && step % 2 == 0;
#define WAY(name) if (strcmp(way, name) == 0)
	WAY("toggle") {
		if (step == 0) mprotect(region, size, ro);
		return even ? reprotect(ro) : 0;
	}
	WAY("none") {
		if (step == 0) mprotect(region, size, none);
		return even ? reprotect(none) : 0;
	}
	WAY("roremap") {
		if (step == 0) mprotect(region, size, ro);
		if (step != 10) return 0;
		int x = region[0];
		mmap(region, size, ro, anonymous | MAP_FIXED, -1, 0);
		return 10 * x + region[0];
	}
	WAY("privfile") {
		if (step == 0) open_file();
		if (!even) return mapped[0];
		int x = mapped[0];
		int y = write_file('B');
		mapped[1] = 5;
		return 1000 * x + y;
	}
	WAY("privfile2") {
		if (step == 0) open_file();
		if (step == 10) return mapped[1] = 5;
		return even ? write_file('B' + step) : 0;
	}
	WAY("standin") {
		if (step == 8) {
			int e = eventfd(0, 0);
			dup2(e, 50);
			close(e);
		}
		if (step == 9) limit_files(10);
		if (step > 12 && step % 2) close(50);
		return 0;
	}
	WAY("fds") {
		if (step == 7) limit_files(3);
		return region[page]++;
	}
	if (!even) return region[page]++;
	WAY("remap") {
		mprotect(region, size, ro);
		mmap(region, size, ro, anonymous | MAP_FIXED, -1, 0);
		int x = region[0];
		mprotect(region, size, rw);
		return x;
	}
	WAY("guard") return madvise(region + 2 * page, page, step % 4 == 0 ? 102 : 103); // MADV_GUARD_INSTALL, _REMOVE
	WAY("brk") {
		long end = syscall(SYS_brk, 0);
		syscall(SYS_brk, end + 16);
		return end % page;
	}
	WAY("resethand") {
		struct sigaction a = {.sa_handler = leave_handler, .sa_flags = SA_RESETHAND};
		if (step == 8) sigaction(SIGUSR1, &a, 0);
		if (step == 20 && !sigsetjmp(jump, 1)) raise(SIGUSR1);
		return hits;
	}
	WAY("shrink") {
		mremap(region, size, size - 4 * page, 0);
		mremap(region, size - 4 * page, size, 0);
		int x = region[size - 1];
		region[size - 1] = 9;
		return x;
	}
	WAY("dontunmap") {
		munmap(mremap(region, size, size, MREMAP_MAYMOVE | MREMAP_DONTUNMAP), size);
		return region[size - 1];
	}
	WAY("slice") {
		if (step != 12) return 0;
		pthread_mutex_lock(&mutex);
		go = 1;
		pthread_cond_signal(&ready);
		pthread_mutex_unlock(&mutex);
		for (int k = 0; k < 6000; k++) madvise(region + 2 * page, page, MADV_DONTNEED);
		return 0;
	}
	WAY("exec") {
		if (step == 12) execl("/proc/self/exe", "p", "plain", (char *)0);
		return 0;
	}
	WAY("vfork") {
		if (step == 10 && vfork() == 0) {
			struct timespec t = {0, 3000000};
			for (int k = 0; k < 4; k++) syscall(SYS_nanosleep, &t, 0);
			_exit(0);
		}
		return 0;
	}
	return region[page]++; // plain
}

int main(int argc, char **argv) {
	setvbuf(stdout, 0, _IONBF, 0);
	region = mmap(0, size, rw, anonymous, -1, 0);
	memset(region, 1, size);
	pthread_t t;
	if (strcmp(argv[1], "slice") == 0) pthread_create(&t, 0, say, 0);
	for (step = 0; step < steps; step++) {
		struct timespec t = {0, 1000000};
		nanosleep(&t, 0);
		printf("%d %d\n", step, change(argv[1]));
	}
	return 0;
}
