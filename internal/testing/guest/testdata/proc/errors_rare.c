// Calls that few programs make, and what they say to wrong arguments.
// guest: unshare --uts --ipc
#include "guest.h"
#include <linux/futex.h>
#include <netinet/in.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <sys/utsname.h>

static void names(void)
{
	struct utsname u;
	uname(&u);
	printf("%s %s %s, 2.6: %d\n", u.nodename, u.domainname, u.machine, strncmp(u.release, "2.6.", 4) == 0);
	char b[100] = "";
	int fd = open("/proc/sys/kernel/hostname", O_RDONLY);
	if (read(fd, b, 99) > 0)
		printf("%s", b);
	close(fd);
}

int main(void)
{
	// Names.
	SHOW(sethostname("other", 5));
	SHOW(setdomainname("domain.org", 10));
	names();
	SHOW(sethostname("other", 65));
	SHOW(sethostname("other", -1));
	SHOW(sethostname((char *)1, 3));
	SHOW(sethostname("", 0));
	SHOW(setdomainname("x\0y", 3));
	names();

	// Personality: not its bit against the randomisation of addresses.
	SHOW(personality(0xffffffff) & ~ADDR_NO_RANDOMIZE);
	personality(0);
	SHOW(personality(UNAME26));
	names();
	SHOW(personality(PER_LINUX32) == UNAME26);
	names();
	if (fork() == 0) {
		SHOW(personality(STICKY_TIMEOUTS) == PER_LINUX32);
		struct timeval tv = {0, 1000};
		SHOW(select(0, NULL, NULL, NULL, &tv));
		printf("left %ld\n", (long)tv.tv_usec);
		exit(0);
	}
	wait(NULL);
	SHOW(personality(0) == PER_LINUX32);

	// Sharing.
	SHOW(unshare(0));
	SHOW(unshare(-1));
	SHOW(unshare(CLONE_FS | CLONE_FILES | CLONE_SYSVSEM));
	SHOW(unshare(CLONE_THREAD));
	SHOW(syscall(SYS_clone, CLONE_FS | CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0));
	if (syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0) == 0) {
		SHOW(unshare(CLONE_FILES));
		SHOW(dup2(1, 20));
		exit(0);
	}
	wait(NULL);
	SHOW(fcntl(20, F_GETFD));
	if (syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0) == 0) {
		SHOW(dup2(1, 20));
		SHOW(syscall(SYS_close_range, 20, 30, 2));
		exit(0);
	}
	wait(NULL);
	SHOW(fcntl(20, F_GETFD));

	// Sockets.
	int path = open("/dev/null", O_PATH), tcp = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	SHOW(accept(path, NULL, NULL));
	SHOW(setsockopt(path, SOL_SOCKET, SO_OOBINLINE, &one, sizeof one));
	SHOW(socket(AF_INET, SOCK_RAW, 0));
	SHOW(socket(AF_INET, SOCK_STREAM, IPPROTO_UDP));
	SHOW(setsockopt(tcp, IPPROTO_IP, -1, &one, sizeof one));
	SHOW(setsockopt(tcp, IPPROTO_TCP, -1, &one, sizeof one));

	// Files.
	int p[2], file = open("f", O_CREAT | O_RDWR, 0600), wr = open("f", O_WRONLY), dir = open(".", O_RDONLY);
	SHOW(pipe(p));
	struct iovec v = {"abc", 3};
	SHOW(pwritev2(p[0], &v, 1, 0, 0));
	SHOW(pwritev2(p[0], &v, 1, -1, 0));
	SHOW(preadv2(p[1], &v, 1, 0, 0));
	SHOW(readahead(dir, 0, 10));
	SHOW(readahead(wr, 0, 10));
	SHOW(readahead(file, 0, 10));
	SHOW(readahead(p[0], 0, 10));
	SHOW(sync_file_range(file, 0, 1, SYNC_FILE_RANGE_WRITE));
	SHOW(sync_file_range(file, -1, 1, SYNC_FILE_RANGE_WRITE));
	SHOW(sync_file_range(file, 0, -1, SYNC_FILE_RANGE_WRITE));
	SHOW(sync_file_range(file, 0, 1, 8));
	SHOW(sync_file_range(p[0], 0, 1, SYNC_FILE_RANGE_WRITE));
	SHOW(sync_file_range(-1, 0, 1, 8));
	mkdir("blind", 0222);

	// Scheduling.
	struct { uint32_t size, policy; uint64_t flags; int32_t nice; uint32_t priority; uint64_t runtime, deadline, period; } attr =
		{48, SCHED_DEADLINE, 0, 0, 0, 10000000, 5000000, 30000000};
	SHOW(syscall(SYS_sched_setattr, 0, &attr, 0));
	attr.deadline = 20000000;
	attr.runtime = 100;
	SHOW(syscall(SYS_sched_setattr, 0, &attr, 0));
	SHOW(prctl(PR_SET_TIMERSLACK, 70000));
	if (fork() == 0) {
		SHOW(prctl(PR_SET_TIMERSLACK, 90000));
		SHOW(prctl(PR_SET_TIMERSLACK, 0));
		SHOW(prctl(PR_GET_TIMERSLACK));
		exit(0);
	}
	wait(NULL);

	// Timers and clocks.
	struct sigevent ev = {.sigev_notify = SIGEV_THREAD, .sigev_signo = SIGALRM};
	int id;
	SHOW(syscall(SYS_timer_create, CLOCK_MONOTONIC, &ev, &id));
	ev.sigev_signo = 0;
	SHOW(syscall(SYS_timer_create, CLOCK_MONOTONIC, &ev, &id));
	ev.sigev_notify = 7;
	SHOW(syscall(SYS_timer_create, CLOCK_MONOTONIC, &ev, &id));
	struct timeval tv = {0, 1000000};
	SHOW(settimeofday(&tv, NULL));
	struct timespec ts = {0, -1};
	SHOW(clock_settime(CLOCK_REALTIME, &ts));
	SHOW(clock_settime(CLOCK_MONOTONIC, &ts));
	SHOW(clock_settime(77, &ts));
	struct timex tx = {.modes = 0x8000};
	SHOW(adjtimex(&tx));

	// Process 1 and somebody else.
	char b[100] = "";
	int fd = open("/proc/1/stat", O_RDONLY);
	SHOW(read(fd, b, 2));
	printf("%.2s\n", b);
	SHOW(access("/proc/1", F_OK));
	SHOW(setuid(65534));
	void *head;
	size_t len;
	SHOW(syscall(SYS_get_robust_list, 1, &head, &len));
	SHOW(syscall(SYS_get_robust_list, 0, &head, &len));
	SHOW(chroot("blind"));
	SHOW(chroot("/"));
	SHOW(sethostname("other", 5));
	SHOW(sethostname("other", -1));
	return 0;
}
