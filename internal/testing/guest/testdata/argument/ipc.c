// Messages and operations on semaphores are read when a call begins.
#include "argument.h"
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>

static int sem, queue;
static struct sembuf op[2];
static struct msg { long type; char text[8]; } m;
static mqd_t q;
static char text[16];
static struct timespec at;

static void *gets(void *x) { SHOW(semop(sem, op, 2)); return x; }
static void *sends(void *x) { SHOW(msgsnd(queue, &m, 4, 0)); return x; }
static void *posts(void *x) { SHOW(mq_timedsend(q, text, 4, 1, &at)); return x; }

int main(void)
{
	sem = MUST(semget(IPC_PRIVATE, 3, 0600));
	op[0] = (struct sembuf){0, -1, 0}, op[1] = (struct sembuf){1, 2, 0};
	pthread_t t = waits(gets);
	MEANWHILE((op[0].sem_num = 2, op[1].sem_op = 7), semctl(sem, 0, SETVAL, 1));
	joined(t);
	printf("semop: %d %d %d\n", semctl(sem, 0, GETVAL), semctl(sem, 1, GETVAL), semctl(sem, 2, GETVAL));
	semctl(sem, 0, IPC_RMID);

	queue = MUST(msgget(IPC_PRIVATE, 0600));
	struct msqid_ds ds;
	msgctl(queue, IPC_STAT, &ds);
	ds.msg_qbytes = 6;
	MUST(msgctl(queue, IPC_SET, &ds));
	m = (struct msg){1, "full"};
	MUST(msgsnd(queue, &m, 4, 0));
	m = (struct msg){2, "old."};
	t = waits(sends);
	struct msg got;
	MEANWHILE((m = (struct msg){3, "new."}), msgrcv(queue, &got, 8, 0, 0));
	joined(t);
	SHOW(msgrcv(queue, &got, 8, 0, IPC_NOWAIT));
	printf("msgsnd: %ld %.4s\n", got.type, got.text);
	msgctl(queue, IPC_RMID, 0);

	struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 16};
	q = MUST(mq_open("/argument", O_CREAT | O_RDWR, 0600, &attr));
	mq_unlink("/argument");
	MUST(mq_send(q, "full", 4, 0));
	clock_gettime(CLOCK_REALTIME, &at), at.tv_sec += 20;
	memcpy(text, "old.", 4);
	t = waits(posts);
	char b[16];
	MEANWHILE((memcpy(text, "new.", 4), at.tv_sec = 0), mq_receive(q, b, 16, NULL));
	joined(t);
	SHOW(mq_receive(q, b, 16, NULL));
	printf("mq_send: %.4s\n", b);
}
