// Says what a System V segment holds and, at each alarm, counts in it.
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

int main(void)
{
	int id = shmget(77, 4096, IPC_CREAT | 0666);
	int *count = shmat(id, 0, 0);
	setlinebuf(stdout);
	printf("was %d\n", *count);
	for (;;) {
		sleep(1);
		++*count;
	}
}
