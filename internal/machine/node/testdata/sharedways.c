// Processes share memory and change it, or what is mapped of it, in a way that the argument names.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { pages = 8, size = 4096, steps = 12 };

static char *m; // what all share
static int id;  // of this process

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 1000000 + 1000 * id}, 0); }

static uint64_t sum(const char *at, int n) {
	uint64_t h = 14695981039346656037u;
	for (int i = 0; i < n * size; i += 64) h = (h ^ (uint8_t)at[i]) * 1099511628211u;
	return h;
}

static void say(int i, uint64_t h) {
	printf("%d %d %llx\n", id, i, (long long)h);
	fflush(stdout);
}

static void child(void (*work)(void)) {
	static int ids;
	ids++;
	if (!fork()) {
		id = ids;
		work();
		exit(0);
	}
}

static void reads(void) {
	for (int i = 0; i < steps; i++) nap(), say(i, sum(m, pages));
}

static void writes(void) {
	for (int i = 0; i < steps; i++) {
		nap();
		m[i % pages * size]++;
		say(i, sum(m, pages));
	}
}

// readonly: one process may only read.
static void readonly(void) {
	child(writes);
	mprotect(m, pages * size, PROT_READ);
	reads();
}

// toggle: nobody may write between the steps.
static void toggles(void) {
	for (int i = 0; i < steps; i++) {
		nap();
		if (i % 3 == 0) mprotect(m, pages * size, PROT_READ | PROT_WRITE), m[i % pages * size] += 1 + id;
		if (i % 3 == 1) mprotect(m, pages * size, PROT_READ);
		say(i, sum(m, pages));
	}
}

static void toggle(void) {
	child(toggles);
	toggles();
}

// none: one process may not even read.
static void none(void) {
	child(writes);
	mprotect(m, pages * size, PROT_NONE);
	for (int i = 0; i < steps; i++) nap(), say(i, i);
	mprotect(m, pages * size, PROT_READ);
	reads();
}

// attach: processes have a segment attached by turns, also for reading only.
static int segment;

static void attaches(void) {
	for (int i = 0; i < steps; i++) {
		nap();
		char *at = shmat(segment, 0, (i + id) % 3 ? 0 : SHM_RDONLY);
		if ((i + id) % 3) at[i % pages * size]++;
		say(i, sum(at, pages));
		if (i % 2) nap();
		shmdt(at);
	}
}

static void attach(void) {
	segment = shmget(IPC_PRIVATE, pages * size, 0600);
	char *keep = shmat(segment, 0, SHM_RDONLY);
	child(attaches);
	attaches();
	say(0, sum(keep, pages));
}

// twice: a process maps the same memory at two addresses, of one of which it unmaps a part.
static void twice(void) {
	char *other = mremap(m, 0, pages * size, MREMAP_MAYMOVE);
	child(writes);
	for (int i = 0; i < steps; i++) {
		nap();
		int no = i * 3 % pages;
		(i % 2 && no / 2 != 1 ? m : other)[no * size + 64] += i;
		if (i == steps / 2) munmap(m + 2 * size, 2 * size);
		say(i, sum(other, pages));
	}
}

// part: a process unmaps a part, to which the other one writes.
static void part(void) {
	child(writes);
	munmap(m, 3 * size);
	for (int i = 0; i < steps; i++) {
		nap();
		m[(3 + i % 5) * size]++;
		say(i, sum(m + 3 * size, pages - 3));
	}
}

// shrink: the mapping gets smaller and larger again.
static void shrinks(void) {
	for (int i = 0; i < steps; i++) {
		nap();
		int n = i % 3 == 1 ? 3 : pages;
		m = mremap(m, (i % 3 == 2 ? 3 : pages) * size, n * size, MREMAP_MAYMOVE);
		m[(i * 5 % n) * size] += 1 + id;
		say(i, sum(m, n));
	}
}

static void shrink(void) {
	child(writes);
	shrinks();
}

// give: processes give pages back.
static void give(void) {
	child(writes);
	for (int i = 0; i < steps; i++) {
		nap();
		m[(i * 3 % pages) * size] += i;
		madvise(m + i % pages * size, size, i % 2 ? MADV_REMOVE : MADV_DONTNEED);
		say(i, sum(m, pages));
	}
}

// forks: a child writes and ends, by itself or not.
static void forks(void) {
	child(writes);
	for (int i = 0; i < steps; i++) {
		nap();
		pid_t pid = fork();
		if (!pid) {
			m[(i * 3 % pages) * size]++;
			if (i % 3 == 0) raise(SIGKILL);
			if (i % 3 == 1) *(volatile int *)8 = 1;
			_exit(0);
		}
		waitpid(pid, 0, 0);
		say(i, sum(m, pages));
	}
}

// calls: Linux writes to the memory.
static void calls(void) {
	child(writes);
	int p[2];
	pipe(p);
	int fd = open("file", O_RDWR | O_CREAT, 0600);
	for (int i = 0; i < steps; i++) {
		nap();
		char *at = m + (i * 3 % pages) * size;
		switch (i % 4) {
		case 0: write(p[1], "abcdefgh", 8), read(p[0], at + 64, 8); break;
		case 1: pwrite(fd, &i, 4, 0), pread(fd, at, 4, 0); break;
		case 2: process_vm_writev(getpid(), &(struct iovec){"xy", 2}, 1, &(struct iovec){at + 128, 2}, 1, 0); break;
		case 3: clock_gettime(CLOCK_MONOTONIC, (struct timespec *)(at + 192)), at[192]++; break;
		}
		say(i, sum(m, pages));
	}
}

// mutexes: robust ones, whose owner dies.
static void locks(void) {
	pthread_mutex_t *x = (pthread_mutex_t *)(m + 7 * size);
	for (int i = 0; i < steps; i++) {
		nap();
		int e = pthread_mutex_lock(x);
		if (e == EOWNERDEAD) pthread_mutex_consistent(x);
		m[i % 7 * size]++;
		nap();
		say(e, sum(m, 7));
		if (id == 1 && i == steps / 2) _exit(0);
		pthread_mutex_unlock(x);
	}
}

static void mutexes(void) {
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init((pthread_mutex_t *)(m + 7 * size), &a);
	child(locks);
	child(locks);
	locks();
}

// leader: the thread that began the process ends before another one.
static void *follower(void *x) {
	nap();
	writes();
	while (wait(0) > 0);
	puts("end");
	exit(0);
}

static void leader(void) {
	child(writes);
	pthread_t t;
	pthread_create(&t, 0, follower, 0);
	pthread_exit(0);
}

// memfd: memory that has a descriptor, at two offsets.
static void memfd(void) {
	int fd = memfd_create("x", 0);
	ftruncate(fd, pages * size);
	m = mmap(0, pages * size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	char *other = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 3 * size);
	child(writes);
	for (int i = 0; i < steps; i++) {
		nap();
		other[i]++;
		if (i == steps / 2) ftruncate(fd, (pages + 1) * size), pwrite(fd, "abc", 3, size);
		say(i, sum(m, pages));
	}
}

int main(int argc, char **argv) {
	static const struct {
		const char *name;
		void (*does)(void);
	} ways[] = {{"readonly", readonly}, {"toggle", toggle}, {"none", none}, {"attach", attach}, {"twice", twice},
		{"part", part}, {"shrink", shrink}, {"give", give}, {"forks", forks}, {"calls", calls},
		{"mutexes", mutexes}, {"leader", leader}, {"memfd", memfd}};
	m = mmap(0, pages * size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memset(m, 1, size);
	for (int i = 0; i < sizeof ways / sizeof *ways; i++)
		if (!strcmp(argv[1], ways[i].name)) ways[i].does();
	while (wait(0) > 0);
	puts("end");
}
