// Says what a System V segment holds and, at each alarm, counts in it. With an argument it has a
// child, and attaches the segment once more at each alarm.
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int id = shmget(77, 4096, IPC_CREAT | 0666);
	int *count = shmat(id, 0, 0);
	setlinebuf(stdout);
	printf("was %d\n", *count);
	if (argc > 1 && fork() == 0)
		pause();
	for (;;) {
		sleep(1);
		++*count;
		if (argc > 1) {
			int *again = shmat(id, 0, 0);
			printf("is %d\n", *again);
			shmdt(again);
		}
	}
}
