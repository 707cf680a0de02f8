// System V shared memory: keys, attaching, removal when the last one leaves.
#include "guest.h"
#include <sys/ipc.h>
#include <sys/shm.h>

int main(void)
{
	struct shmid_ds ds;
	int id = MUST(shmget(IPC_PRIVATE, 5000, IPC_CREAT | 0600));
	int *m = shmat(id, NULL, 0);
	SURE(m != (void *)-1);
	SHOW(shmctl(id, IPC_STAT, &ds));
	printf("%zu bytes, %ld attached\n", ds.shm_segsz, (long)ds.shm_nattch);
	SURE(ds.shm_cpid == getpid());
	pid_t child = fork();
	if (child == 0) {
		m[0] = 42;
		_exit(shmdt(m));
	}
	show_wait("child", child);
	SHOW(m[0]);
	int *ro = shmat(id, NULL, SHM_RDONLY);
	SHOW(ro[0]);
	SHOW(shmctl(id, IPC_RMID, NULL));
	SHOW(shmdt(ro));
	SHOW(m[0]);
	SHOW(shmdt(m));
	SHOW(shmdt(m));
	SURE(shmat(id, NULL, 0) == (void *)-1);
	printf("%s\n", errname(errno));
	key_t k = 0x41720000 | (getpid() & 0xffff);
	id = MUST(shmget(k, 4096, IPC_CREAT | IPC_EXCL | 0600));
	SHOW(shmget(k, 4096, IPC_CREAT | IPC_EXCL | 0600));
	SURE(shmget(k, 0, 0) == id);
	SHOW(shmget(k, 1 << 20, 0));
	SHOW(shmctl(id, IPC_RMID, NULL));
	SHOW(shmget(k, 0, 0));
}
