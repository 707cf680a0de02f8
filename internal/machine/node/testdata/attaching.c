// A process makes a segment in one step, attaches it in the next one, and changes it from there on.
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <time.h>

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 1000000}, 0); }

int main(void) {
	int id = shmget(IPC_PRIVATE, 4096, 0600);
	nap();
	int *at = shmat(id, 0, 0);
	memset(at, 0, 4096);
	for (int i = 0; i < 12; i++) {
		at[0]++;
		at[i + 1] += i;
		nap();
		printf("%d %d\n", at[0], at[i + 1]);
		fflush(stdout);
	}
}
