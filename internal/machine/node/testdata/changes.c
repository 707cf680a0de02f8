// Changes, step by step, all that Linux has of a process, and says what memory holds.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { size = 64 * 4096 };
static char *region, *moving, *file;
static size_t moved = size;
static int last = -1;

static uint32_t sum(uint32_t h, const char *p, size_t n) {
	for (size_t i = 0; i < n; i += 64) h = h * 31 + (unsigned char)p[i];
	return h;
}

static int deep(int n) {
	volatile char room[4096];
	memset((char *)room, n, sizeof room);
	return n == 0 ? room[1] : deep(n - 1) + room[2];
}

static void *other(void *x) {
	region[5 * 4096] += (char)(intptr_t)x;
	return 0;
}

static void handler(int s) { region[64 * s]++; }

static void change(int i) {
	switch (i % 13) {
	case 0: region[(i * 7 % 64) * 4096 + i]++; break;
	case 1: madvise(region + 8 * 4096, 4 * 4096, MADV_DONTNEED); break;
	case 2:
		munmap(region + 16 * 4096, 4 * 4096);
		mmap(region + 16 * 4096, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		break;
	case 3: mprotect(region + 24 * 4096, 4096, i & 16 ? PROT_READ : PROT_READ | PROT_WRITE); break;
	case 4: region[1] += deep(16 * i); break;
	case 5: memset(sbrk(3 * 4096), i, 3 * 4096); break;
	case 6: last = last < 0 ? eventfd(0, i & 16 ? EFD_CLOEXEC : 0) : (close(last), -1); break;
	case 7:
		moving = mremap(moving, moved, moved + 4096, MREMAP_MAYMOVE);
		moved += 4096;
		moving[moved - 1] = i;
		break;
	case 8: file[i] = i; break;
	case 9: {
		pthread_t t;
		pthread_create(&t, 0, other, (void *)(intptr_t)i);
		pthread_join(t, 0);
		break;
	}
	case 10: raise(SIGUSR1); break;
	case 11: {
		pid_t pid = fork();
		if (pid == 0) {
			region[3] = 99;
			_exit(i % 7);
		}
		int status;
		waitpid(pid, &status, 0);
		region[2] += status >> 8;
		break;
	}
	case 12: memset(region + 32 * 4096, i, 16 * 4096); break;
	}
}

int main(void) {
	region = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	moving = mmap(0, moved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/etc/passwd", O_RDONLY);
	file = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	memset(region, 1, size);
	signal(SIGUSR1, handler);
	for (int i = 0; i < 80; i++) {
		struct timespec t = {0, 1000000};
		nanosleep(&t, 0);
		if (i % 3) change(i);
		else region[i * 64]++; // nothing but memory
		printf("%d %08x\n", i, sum(sum(sum(1, region, size), moving, moved), file, 4096));
		fflush(stdout);
	}
	return 0;
}
