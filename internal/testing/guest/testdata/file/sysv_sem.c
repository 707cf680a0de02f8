// System V semaphores: waiting, several at once, undo at exit, removal.
#include "guest.h"
#include <sys/ipc.h>
#include <sys/sem.h>

static int op(int id, int n, int v, int flags)
{
	struct sembuf b = {n, v, flags};
	return semop(id, &b, 1);
}

int main(void)
{
	int id = MUST(semget(IPC_PRIVATE, 2, IPC_CREAT | 0600));
	SHOW(semctl(id, 0, SETVAL, 1));
	SHOW(op(id, 0, -1, 0));
	SHOW(op(id, 0, -1, IPC_NOWAIT));
	SHOW(op(id, 0, 0, IPC_NOWAIT));
	pid_t child = fork();
	if (child == 0) {
		nap(20);
		op(id, 0, 2, 0);
		_exit(0);
	}
	SHOW(op(id, 0, -2, 0));
	show_wait("child", child);
	struct sembuf two[] = {{0, 1, 0}, {1, -1, IPC_NOWAIT}};
	SHOW(semop(id, two, 2));
	SHOW(semctl(id, 0, GETVAL));
	child = fork();
	if (child == 0) {
		op(id, 1, 5, SEM_UNDO);
		_exit(semctl(id, 1, GETVAL));
	}
	show_wait("child", child);
	SHOW(semctl(id, 1, GETVAL));
	struct timespec some = {0, 20000000};
	struct sembuf down = {1, -1, 0};
	SHOW(semtimedop(id, &down, 1, &some));
	unsigned short all[2] = {3, 4};
	SHOW(semctl(id, 0, SETALL, all));
	SHOW(semctl(id, 1, GETVAL));
	SURE(semctl(id, 0, GETPID) == getpid());
	SHOW(op(id, 7, 1, 0));
	child = fork();
	if (child == 0)
		_exit(op(id, 0, 0, 0) < 0 && errno == EIDRM ? 0 : 1);
	rest(child);
	SHOW(semctl(id, 0, GETZCNT));
	SHOW(semctl(id, 0, IPC_RMID));
	show_wait("waiter", child);
	SHOW(op(id, 0, 1, 0));
}
