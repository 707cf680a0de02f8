// System V objects are listed and counted, messages copied, and limits set.
// guest: unshare --ipc
#include "guest.h"
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

#ifndef MSG_STAT_ANY
#define MSG_STAT_ANY 13
#define SEM_STAT_ANY 20
#define SHM_STAT_ANY 15
#endif
#ifndef MSG_COPY
#define MSG_COPY 040000
#endif

static void ints(const char *what, const void *p, int n)
{
	printf("%s:", what);
	for (int i = 0; i < n; i++)
		printf(" %d", ((const int *)p)[i]);
	printf("\n");
}

static void longs(const char *what, const void *p, int n)
{
	printf("%s:", what);
	for (int i = 0; i < n; i++)
		printf(" %lu", ((const unsigned long *)p)[i]);
	printf("\n");
}

// Lines of a file of /proc/sysvipc, without times and processes.
static void table(const char *path, int columns)
{
	FILE *f = fopen(path, "r");
	char line[400];
	while (fgets(line, sizeof line, f)) {
		printf("%s:", strrchr(path, '/'));
		char *word = strtok(line, " \n");
		for (int i = 0; word && i < columns; i++, word = strtok(NULL, " \n"))
			printf(" %s", word);
		printf("\n");
	}
	fclose(f);
}

static void set(const char *name, const char *value)
{
	char path[100], b[100] = "";
	snprintf(path, sizeof path, "/proc/sys/kernel/%s", name);
	int fd = open(path, O_RDWR);
	if (fd < 0) {
		printf("%s: %s\n", name, strerrorname_np(errno));
		return;
	}
	printf("%s = %s: ", name, value);
	SHOW(write(fd, value, strlen(value)));
	close(fd);
	fd = open(path, O_RDONLY);
	b[read(fd, b, 99)] = 0;
	close(fd);
	printf("%s is %s", name, b);
}

int main(void)
{
	struct msginfo mi;
	struct seminfo si;
	struct shminfo hi;
	struct shm_info hu;
	struct msqid_ds md;
	struct semid_ds sd;
	struct shmid_ds hd;
	SHOW(msgctl(0, IPC_INFO, (void *)&mi));
	ints("msginfo", &mi, 7);
	SHOW(semctl(0, 0, IPC_INFO, &si));
	ints("seminfo", &si, 10);
	SHOW(shmctl(0, IPC_INFO, (void *)&hi));
	longs("shminfo", &hi, 5);

	int q0 = msgget(IPC_PRIVATE, 0600), q1 = msgget(77, IPC_CREAT | 0640);
	int s0 = semget(IPC_PRIVATE, 3, 0600), s1 = semget(IPC_PRIVATE, 4, 0600);
	int m0 = shmget(IPC_PRIVATE, 5000, 0600), m1 = shmget(78, 4096, IPC_CREAT | 0600);
	printf("%d %d, %d %d, %d %d\n", q0, q1, s0, s1, m0, m1);
	struct { long type; char text[100]; } msg = {5, "five"};
	SHOW(msgsnd(q1, &msg, 4, 0));
	msg.type = 6;
	SHOW(msgsnd(q1, &msg, 10, 0));
	SHOW(msgctl(0, MSG_INFO, (void *)&mi));
	ints("msg_info", &mi, 7);
	SHOW(semctl(0, 0, SEM_INFO, &si));
	ints("sem_info", &si, 10);
	// All of it is in memory.
	for (int i = 0; i < 2; i++) {
		char *p = shmat(i ? m1 : m0, NULL, 0);
		memset(p, 1, 4096 * (2 - i));
	}
	SHOW(shmctl(0, SHM_INFO, (void *)&hu));
	ints("shm_info", &hu, 1);
	longs("shm_info", &hu.shm_tot, 3);
	table("/proc/sysvipc/msg", 5);
	table("/proc/sysvipc/sem", 4);
	table("/proc/sysvipc/shm", 4);

	printf("%d\n", msgctl(1, MSG_STAT, &md) == q1);
	printf("%lu messages, %lu bytes at most\n", md.msg_qnum, md.msg_qbytes);
	SHOW(msgctl(2, MSG_STAT, &md));
	SHOW(msgctl(-1, MSG_STAT, &md));
	SHOW(msgctl(-1, MSG_INFO, &md));
	SHOW(msgctl(q0, 99, &md));
	SHOW(semctl(0, 0, SEM_STAT, &sd));
	printf("%lu semaphores\n", sd.sem_nsems);
	SHOW(semctl(s0, 0, 99));
	SHOW(shmctl(1, SHM_STAT, &hd));
	printf("%lu bytes, attached %lu\n", hd.shm_segsz, hd.shm_nattch);
	SHOW(shmctl(m0, SHM_LOCK, NULL));
	SHOW(shmctl(m0, IPC_STAT, &hd));
	printf("mode %o\n", hd.shm_perm.mode);
	SHOW(shmctl(m0, SHM_UNLOCK, NULL));
	SHOW(shmctl(m0, 99, &hd));

	// Copies.
	SHOW(msgrcv(q1, &msg, 100, 0, MSG_COPY | IPC_NOWAIT));
	printf("type %ld\n", msg.type);
	SHOW(msgrcv(q1, &msg, 100, 1, MSG_COPY | IPC_NOWAIT));
	printf("type %ld\n", msg.type);
	SHOW(msgrcv(q1, &msg, 100, 2, MSG_COPY | IPC_NOWAIT));
	SHOW(msgrcv(q1, &msg, 2, 0, MSG_COPY | IPC_NOWAIT));
	SHOW(msgrcv(q1, &msg, 2, 0, MSG_COPY | IPC_NOWAIT | MSG_NOERROR));
	SHOW(msgrcv(q1, &msg, 100, 0, MSG_COPY));
	SHOW(msgrcv(q1, &msg, 100, 0, MSG_COPY | IPC_NOWAIT | 020000));

	// Somebody else sees all, and may ask about what he may not read.
	if (fork() == 0) {
		SHOW(setuid(65534));
		SHOW(msgctl(0, MSG_STAT, &md));
		SHOW(msgctl(0, MSG_STAT_ANY, &md));
		SHOW(semctl(1, 0, SEM_STAT, &sd));
		SHOW(semctl(1, 0, SEM_STAT_ANY, &sd));
		SHOW(shmctl(0, SHM_STAT, &hd));
		SHOW(shmctl(0, SHM_STAT_ANY, &hd));
		SHOW(shmctl(m0, SHM_LOCK, NULL));
		SHOW(open("/proc/sys/kernel/msgmax", O_WRONLY));
		table("/proc/sysvipc/sem", 4);
		exit(0);
	}
	wait(NULL);

	// Limits.
	set("msgmax", "9");
	SHOW(msgsnd(q1, &msg, 10, 0));
	SHOW(msgsnd(q1, &msg, 9, 0));
	set("msgmax", "-1");
	set("msgmax", "x");
	set("msgmnb", "20");
	SHOW(msgget(99, IPC_CREAT | 0600) == -1);
	SHOW(msgctl(msgget(99, 0), IPC_STAT, &md));
	printf("%lu bytes at most\n", md.msg_qbytes);
	set("msgmni", "3");
	SHOW(msgget(IPC_PRIVATE, 0600));
	set("sem", "5 8 2");
	SHOW(semget(IPC_PRIVATE, 6, 0600));
	SHOW(semget(IPC_PRIVATE, 2, 0600));
	struct sembuf ops[3] = {{0, 1, 0}, {0, 1, 0}, {0, 1, 0}};
	SHOW(semop(s0, ops, 3));
	SHOW(semop(s0, ops, 2));
	set("shmmax", "6000");
	SHOW(shmget(IPC_PRIVATE, 6001, 0600));
	set("shmall", "3");
	SHOW(shmget(IPC_PRIVATE, 10, 0600));
	set("shmmni", "2");
	SHOW(shmget(IPC_PRIVATE, 10, 0600));
	set("msgmni", "10");
	set("msg_next_id", "98310");
	SHOW(msgget(IPC_PRIVATE, 0600));
	set("msg_next_id", "-5");
	SHOW(shmctl(0, IPC_INFO, (void *)&hi));
	longs("shminfo", &hi, 5);
	SHOW(msgctl(0, IPC_INFO, (void *)&mi));
	ints("msginfo", &mi, 7);
	SHOW(semctl(0, 0, IPC_INFO, &si));
	ints("seminfo", &si, 10);
	return 0;
}
