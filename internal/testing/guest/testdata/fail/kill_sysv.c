// System V objects outlive a killed process; its semaphore adjustments are made.
#include "kill.h"
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

static int sem, shm, msg;

static void act(void)
{
	struct sembuf ops[2] = {{0, -2, SEM_UNDO}, {1, 3, 0}};
	MUST(semop(sem, ops, 2));
	char *p = shmat(shm, NULL, 0);
	strcpy(p, "written");
	struct { long type; char text[4]; } m = {7, "msg"};
	MUST(msgsnd(msg, &m, 4, 0));
}

int main(void)
{
	struct shmid_ds d;
	struct { long type; char text[4]; } m;
	sem = MUST(semget(IPC_PRIVATE, 2, 0600));
	shm = MUST(shmget(IPC_PRIVATE, 4096, 0600));
	msg = MUST(msgget(IPC_PRIVATE, 0600));
	MUST(semctl(sem, 0, SETVAL, 5));
	MUST(semctl(sem, 1, SETVAL, 0));
	pid_t v = victim(act);
	SHOW(semctl(sem, 0, GETVAL));
	MUST(shmctl(shm, IPC_STAT, &d));
	printf("attached %lu\n", (unsigned long)d.shm_nattch);
	slay(v);
	SHOW(semctl(sem, 0, GETVAL));
	SHOW(semctl(sem, 1, GETVAL));
	MUST(shmctl(shm, IPC_STAT, &d));
	printf("attached %lu, last by the victim: %d\n", (unsigned long)d.shm_nattch, d.shm_lpid == v);
	printf("%s\n", (char *)shmat(shm, NULL, 0));
	SHOW(msgrcv(msg, &m, 4, 0, IPC_NOWAIT));
	printf("%ld %s\n", m.type, m.text);
	SHOW(semctl(sem, 0, IPC_RMID));
	SHOW(shmctl(shm, IPC_RMID, NULL));
	SHOW(msgctl(msg, IPC_RMID, NULL));
}
