// A segment that was removed while a process had it is gone when that is killed.
#include "kill.h"
#include <sys/shm.h>

static int id;

static void act(void) { strcpy(shmat(id, NULL, 0), "mine"); }

int main(void)
{
	struct shmid_ds d;
	id = MUST(shmget(IPC_PRIVATE, 4096, 0600));
	pid_t v = victim(act);
	SHOW(shmctl(id, IPC_RMID, NULL));
	SHOW(shmctl(id, IPC_STAT, &d));
	SURE(d.shm_perm.mode & SHM_DEST);
	slay(v);
	SHOW(shmctl(id, IPC_STAT, &d));
	SURE(shmat(id, NULL, 0) == (void *)-1);
}
