// Three processes change memory that they share, step by step, and say what it is.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { pages = 24, size = 4096, steps = 20 };

static char *anonymous, *segment;

static uint64_t sum(const char *at) {
	uint64_t h = 14695981039346656037u;
	for (int i = 0; i < pages * size; i += 64) h = (h ^ (uint8_t)at[i]) * 1099511628211u;
	return h;
}

static void work(int id) {
	for (int i = 0; i < steps; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 1000000 + 1000 * id}, 0);
		char *page = (i % 2 ? anonymous : segment) + (i * 7 + id * 3) % pages * size;
		switch ((i + id) % 5) {
		case 0: memset(page, 0, size); break;
		case 1: page[64 * id] ^= i; break;
		case 2: memset(page, i, size); break;
		case 3: memcpy(page, segment + id * size, size); break;
		case 4: break; // another process has changed it
		}
		if (i == steps / 2 && id == 2) mprotect(anonymous, size, PROT_READ);
		printf("%d %d %llx %llx\n", id, i, (long long)sum(anonymous), (long long)sum(segment));
		fflush(stdout);
	}
}

int main() {
	anonymous = mmap(0, pages * size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	segment = shmat(shmget(IPC_PRIVATE, pages * size, 0600), 0, 0);
	for (int id = 1; id < 3; id++)
		if (!fork()) {
			work(id);
			return 0;
		}
	work(0);
	while (wait(0) > 0);
	puts("end");
}
