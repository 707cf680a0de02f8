// A thread that changes its ids past libc changes its own alone.
// guest: root
#include "guest.h"
#include <sys/prctl.h>

static pthread_barrier_t turn;

static void ids(const char *who)
{
	uid_t r, e, s;
	gid_t g;
	getresuid(&r, &e, &s);
	g = getegid();
	printf("%s: %d %d %d, group %d, files %d, groups %d\n", who, r, e, s, g, (int)syscall(SYS_setfsuid, -1), getgroups(0, NULL));
}

static void bits(const char *who)
{
	int sig = 0;
	prctl(PR_GET_PDEATHSIG, &sig);
	printf("%s: keepcaps %d, no new privileges %d, death %d, can change owners %d\n", who, prctl(PR_GET_KEEPCAPS),
	       prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), sig, syscall(SYS_fchownat, AT_FDCWD, "file", 0, 0, 0) == 0);
}

static void *other(void *arg)
{
	pid_t child;
	ids("born");
	pthread_barrier_wait(&turn); // 1
	pthread_barrier_wait(&turn); // 2: the first thread has changed
	ids("other");
	bits("other");
	SHOW(syscall(SYS_setresuid, 3, 4, 5));
	SHOW(open("file", O_RDWR));
	SHOW(kill(getpid(), 0));
	SHOW(syscall(SYS_tgkill, getpid(), getpid(), 0));
	child = fork();
	if (child == 0) {
		ids("child");
		exit(0);
	}
	waitpid(child, NULL, 0);
	pthread_barrier_wait(&turn); // 3
	pthread_barrier_wait(&turn); // 4
	ids("other");
	return arg;
}

int main(void)
{
	pthread_t t;
	int fd = open("file", O_RDWR | O_CREAT, 0600);
	close(fd);
	gid_t groups[] = {5, 6};
	MUST(syscall(SYS_setgroups, 2, groups));
	pthread_barrier_init(&turn, NULL, 2);
	pthread_create(&t, NULL, other, NULL);
	pthread_barrier_wait(&turn); // 1
	SHOW(syscall(SYS_setgroups, 0, NULL));
	SHOW(syscall(SYS_setresgid, 7, 8, 9));
	SHOW(prctl(PR_SET_KEEPCAPS, 1));
	SHOW(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	SHOW(syscall(SYS_setresuid, 0, 1, 0));
	SHOW(prctl(PR_SET_PDEATHSIG, SIGUSR1));
	ids("first");
	bits("first");
	pthread_barrier_wait(&turn); // 2
	pthread_barrier_wait(&turn); // 3: the other has
	ids("first");
	SHOW(open("file", O_RDONLY));
	SHOW(syscall(SYS_setresuid, 0, 0, 0));
	SHOW(open("file", O_RDONLY) >= 0);
	struct stat st;
	stat("/proc/self", &st);
	printf("owner of the process %d\n", st.st_uid);
	pthread_barrier_wait(&turn); // 4
	pthread_join(t, NULL);
	SHOW(setresuid(11, 11, 11));
	ids("first");
	return 0;
}
