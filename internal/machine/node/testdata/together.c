// Has a child that stores in its memory, and a segment that nobody has attached, a second each.
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

int main(void)
{
	volatile int x = 1;
	sleep(1);
	if (vfork() == 0) {
		sleep(1);
		x = 5;
		_exit(0);
	}
	printf("%d\n", x);
	fflush(stdout);
	sleep(1);
	int id = shmget(IPC_PRIVATE, 4096, 0600);
	int *at = shmat(id, NULL, 0);
	*at = 7;
	shmdt(at);
	sleep(1);
	at = shmat(id, NULL, 0);
	printf("%d\n", *at);
	fflush(stdout);
	sleep(1);
	return 0;
}
