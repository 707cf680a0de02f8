// guest: root
// What a process may do to others: signals, priorities, limits, /proc.
#include "cred.h"
#include <sys/uio.h>

static void act(pid_t root, pid_t mine, pid_t half)
{
	SHOW(kill(root, 0));
	SHOW(kill(root, SIGCONT));
	SHOW(kill(mine, 0));
	SHOW(kill(half, 0));
	SHOW(kill(half, SIGUSR1));
	SHOW(syscall(SYS_tgkill, root, root, SIGUSR1));
	SHOW(syscall(SYS_tkill, mine, SIGUSR2));
	SHOW(sigqueue(root, SIGUSR1, (union sigval){1}));
	SHOW(setpriority(PRIO_PROCESS, root, 19));
	SHOW(setpriority(PRIO_PROCESS, mine, 19));
	SHOW(setpriority(PRIO_PROCESS, mine, 1));
	SHOW(setpriority(PRIO_USER, 0, 4));
	struct sched_param sp = {0};
	SHOW(sched_setscheduler(root, SCHED_BATCH, &sp));
	SHOW(sched_setscheduler(mine, SCHED_BATCH, &sp));
	sp.sched_priority = 5;
	SHOW(sched_setscheduler(mine, SCHED_FIFO, &sp));
	cpu_set_t set;
	MUST(sched_getaffinity(0, sizeof set, &set));
	SHOW(sched_setaffinity(root, sizeof set, &set));
	SHOW(sched_setaffinity(mine, sizeof set, &set));
	struct rlimit rl;
	SHOW(prlimit(root, RLIMIT_CORE, NULL, &rl));
	SHOW(prlimit(mine, RLIMIT_CORE, NULL, &rl));
	char path[99], b[4096];
	const char *names[] = {"environ", "maps", "status", "cmdline", "stat", "fd", "exe", "cwd", "root"};
	for (int who = 0; who < 2; who++)
		for (int i = 0; i < 9; i++) {
			snprintf(path, sizeof path, "/proc/%d/%s", who ? mine : root, names[i]);
			int fd = open(path, O_RDONLY | O_NONBLOCK);
			printf("%s %s: %s", who ? "mine" : "root's", names[i], fd < 0 ? strerrorname_np(errno) : "done");
			if (fd >= 0)
				close(fd);
			if (i > 5)
				printf(", link %s", readlink(path, b, sizeof b) < 0 ? strerrorname_np(errno) : "done");
			puts("");
		}
	char c;
	struct iovec l = {&c, 1}, r = {"x", 1};
	SHOW(process_vm_readv(root, &l, 1, &r, 1, 0));
	SHOW(process_vm_readv(mine, &l, 1, &r, 1, 0));
	SHOW(chroot("/"));
	SHOW(setgroups(0, NULL));
	SHOW(setuid(0));
	SHOW(setgid(0));
}

static pid_t sleeper(uid_t real, uid_t effective)
{
	int p[2];
	char c;
	MUST(pipe(p));
	pid_t child = MUST(fork());
	if (child == 0) {
		on(SIGUSR1, nothing, SA_RESTART);
		on(SIGUSR2, nothing, SA_RESTART);
		MUST(setresgid(real, effective, effective));
		MUST(setresuid(real, effective, effective));
		if (real == effective)
			MUST(prctl(PR_SET_DUMPABLE, 1));
		close(p[0]);
		MUST(write(p[1], "x", 1));
		for (;;)
			pause();
	}
	close(p[1]);
	MUST(read(p[0], &c, 1));
	close(p[0]);
	return child;
}

int main(void)
{
	pid_t root = sleeper(0, 0), mine = sleeper(1001, 1001), half = sleeper(1001, 1002);
	AS(1001, 1001, 1001) {
		MUST(prctl(PR_SET_DUMPABLE, 1));
		act(root, mine, half);
	}
	AS(1002, 1002, 1002) {
		SHOW(kill(half, 0));
		SHOW(kill(mine, 0));
		SHOW(kill(mine, SIGCONT));
		SHOW(setpriority(PRIO_PROCESS, half, 19));
	}
	kill(root, SIGKILL);
	kill(mine, SIGKILL);
	kill(half, SIGKILL);
	for (int i = 0; i < 3; i++)
		wait(NULL);
}
