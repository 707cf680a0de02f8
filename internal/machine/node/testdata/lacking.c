// Calls that lack something: descriptors ("lacking files"), room on the disk for data, of which
// some is given up ("room", "full"), for a part of it ("parts") or for names ("names"), a disk that can be
// written ("readonly"), time to wait ("interrupted"), memory ("memory") or processes ("processes").
// It says which of them fail for that, and which for something that is found to be wrong before.
// With a second argument it sees to it itself that there is none; without, somebody else has
// to make the calls fail.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static void say(const char *what, long r)
{
	printf("%s: %s\n", what, r < 0 ? strerrorname_np(errno) : "ok");
}

static void files(int limit)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	bind(listener, (struct sockaddr *)&a, sizeof a);
	listen(listener, 5);
	int fresh = socket(AF_INET, SOCK_STREAM, 0);
	int last = dup(1), p[2];
	if (limit) {
		struct rlimit l = {last + 1, last + 1};
		setrlimit(RLIMIT_NOFILE, &l);
	}
	say("open a file", open("/etc/passwd", O_RDONLY));
	say("open what is missing", open("/no/such/file", O_RDONLY));
	say("open below a bad descriptor", openat(-7, "x", O_RDONLY));
	say("open no name", open("", O_RDONLY));
	say("open a bad address", syscall(SYS_openat, AT_FDCWD, 1, O_RDONLY));
	say("creat", creat("new", 0600));
	say("socket", socket(AF_INET, SOCK_STREAM, 0));
	say("socket of unix", socket(AF_UNIX, SOCK_DGRAM, 0));
	say("socket of no family", socket(77, SOCK_STREAM, 0));
	say("socket of a bad type", socket(AF_INET, 77, 0));
	say("accept, nobody there", accept(listener, NULL, NULL));
	say("accept, bad flags", accept4(listener, NULL, NULL, 1));
	say("accept, not listening", accept(fresh, NULL, NULL));
	say("accept, no socket", accept4(1, NULL, NULL, SOCK_CLOEXEC));
	say("accept, not open", accept(99, NULL, NULL));
	say("pipe", pipe(p));
	say("pipe2, bad flags", pipe2(p, 1));
	say("pipe to a bad address", syscall(SYS_pipe, 1));
	say("epoll_create1", epoll_create1(0));
	say("epoll_create1, bad flags", epoll_create1(1));
	say("eventfd", eventfd(0, 0));
	say("eventfd, bad flags", eventfd(0, 4));
}

// A bad address is not tried: Linux's versions differ in what they look at first.
static void room(int fill)
{
	char buf[4096] = {1};
	int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600), in = open("file", O_RDONLY), p[2];
	off_t far = 1 << 20;
	struct iovec v[2] = {{buf, 10}, {buf, 0}};
	if (fill) {
		int pad = open("pad", O_RDWR | O_CREAT, 0600);
		while (write(pad, buf, sizeof buf) > 0)
			;
	}
	lseek(fd, far, SEEK_SET);
	say("write", write(fd, buf, 10));
	printf("the position has not changed: %d\n", lseek(fd, 0, SEEK_CUR) == far);
	say("write nothing", write(fd, buf, 0));
	say("write what is for reading", write(in, buf, 10));
	say("write what is not open", write(99, buf, 10));
	say("pwrite", pwrite(fd, buf, 10, 2 * far));
	say("pwrite before the beginning", pwrite(fd, buf, 10, -1));
	say("writev", writev(fd, v, 2));
	say("writev nothing", writev(fd, v + 1, 1));
	say("writev from no list", writev(fd, (void *)1, 1));
	say("writev of too many", writev(fd, v, 2000));
	say("pwritev", pwritev(fd, v, 1, 3 * far));
	say("pwritev2 where it stands", pwritev2(fd, v, 1, -1, 0));
	say("pwritev2, bad flags", pwritev2(fd, v, 1, -1, 1 << 20));
	say("fallocate", fallocate(fd, 0, 0, 4 * far));
	say("fallocate nothing", fallocate(fd, 0, 0, 0));
	say("fallocate what is for reading", fallocate(in, 0, 0, far));
	say("pipe", pipe(p));
	say("write to a pipe", write(p[1], buf, 10));
	struct rlimit most = {far, far};
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &most);
	say("fallocate beyond the limit", fallocate(fd, 0, 0, 4 * far));
	printf("the size of the file: %ld\n", (long)lseek(fd, 0, SEEK_END));
}

static void names(int fill)
{
	char longest[300];
	memset(longest, 'x', sizeof longest);
	longest[299] = 0;
	mkdir("dir", 0700);
	close(open("file", O_RDWR | O_CREAT, 0600));
	symlink("nowhere/new", "broken");
	if (fill) {
		char name[20];
		for (int i = 0;; i++) {
			snprintf(name, sizeof name, "pad%d", i);
			int fd = open(name, O_RDWR | O_CREAT, 0600);
			if (fd < 0)
				break;
			close(fd);
		}
	}
	say("open a new file", open("new", O_RDWR | O_CREAT, 0600));
	say("open one that is there", open("file", O_RDWR | O_CREAT, 0600));
	say("open it exclusively", open("file", O_RDWR | O_CREAT | O_EXCL, 0600));
	say("open a new file in no directory", open("nowhere/new", O_RDWR | O_CREAT, 0600));
	say("open one below a file", open("file/new", O_RDWR | O_CREAT, 0600));
	say("open one behind a broken link", open("broken", O_RDWR | O_CREAT, 0600));
	say("open a name that is too long", open(longest, O_RDWR | O_CREAT, 0600));
	say("open a new file as a directory", open("new/", O_RDWR | O_CREAT, 0600));
	say("creat", creat("dir/new", 0600));
	say("openat", openat(open("dir", O_RDONLY), "new", O_WRONLY | O_CREAT, 0600));
	say("mkdir", mkdir("new", 0700));
	say("mkdir with a slash", mkdir("new/", 0700));
	say("mkdir of what is there", mkdir("dir", 0700));
	say("mkdir of no name", mkdir("", 0700));
	say("symlink", symlink("file", "new"));
	say("symlink where something is", symlink("file", "dir"));
	say("symlink to nothing", symlink("", "new"));
	say("mknod of a pipe", mknod("new", S_IFIFO | 0600, 0));
	say("mknod of what is there", mknod("file", S_IFREG | 0600, 0));
	say("link", link("file", "new"));
	say("link to what is there", link("file", "dir"));
	say("link of what is missing", link("missing", "new"));
	say("link of a directory", link("dir", "new"));
	say("linkat, bad flags", linkat(AT_FDCWD, "file", AT_FDCWD, "new", 1));
	say("unlink", unlink("file"));
}

static void readonly(int really)
{
	mkdir("dir", 0700);
	mkdir("other", 0700);
	close(open("file", O_RDWR | O_CREAT, 0600));
	close(open("second", O_RDWR | O_CREAT, 0600));
	if (really && mount(NULL, ".", NULL, MS_REMOUNT | MS_RDONLY, NULL))
		printf("mount: %s\n", strerrorname_np(errno));
	say("open a new file", open("new", O_RDONLY | O_CREAT, 0600));
	say("open one that is there", open("file", O_RDONLY | O_CREAT, 0600));
	say("mkdir", mkdir("new", 0700));
	say("mkdir of what is there", mkdir("dir", 0700));
	say("mknod", mknod("new", S_IFREG | 0600, 0));
	say("symlink", symlink("file", "new"));
	say("link", link("file", "new"));
	say("unlink", unlink("file"));
	say("unlinkat", unlinkat(AT_FDCWD, "other", AT_REMOVEDIR));
	say("rmdir", rmdir("dir"));
	say("rename", rename("file", "new"));
	say("rename over another", rename("file", "second"));
	say("renameat2", renameat2(AT_FDCWD, "file", AT_FDCWD, "new", RENAME_NOREPLACE));
	say("rename of a directory", rename("dir", "new"));
	printf("all is there: %d\n", access("file", F_OK) == 0 && access("dir", F_OK) == 0 && access("second", F_OK) == 0 && access("other", F_OK) == 0);
}

static void fill(const char *pad, int leave)
{
	char buf[4096] = {1};
	int fd = open(pad, O_RDWR | O_CREAT | O_TRUNC, 0600);
	long all = 0;
	while (write(fd, buf, sizeof buf) == sizeof buf)
		all += sizeof buf;
	ftruncate(fd, all - leave * sizeof buf);
	close(fd);
}

static long room_left(void)
{
	struct statvfs v;
	return statvfs(".", &v) ? -1 : v.f_bavail != 0;
}

static void full(int really)
{
	char buf[8192] = {1};
	int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600), other = open("other", O_RDWR | O_CREAT | O_TRUNC, 0600);
	pwrite(fd, buf, sizeof buf, 0);
	pwrite(other, buf, sizeof buf, 0);
	if (really)
		fill("pad", 0);
	say("write in place", write(fd, buf, 100));
	printf("there is room: %ld\n", room_left());
	say("write behind the end", pwrite(fd, buf, 100, sizeof buf));
	say("write in place again", pwrite(fd, buf, sizeof buf, 0));
	printf("write beyond the end: %zd\n", pwrite(fd, buf, sizeof buf, sizeof buf / 2));
	say("writev behind the end", pwritev(fd, &(struct iovec){buf, 100}, 1, sizeof buf));
	say("fallocate", fallocate(fd, 0, sizeof buf, sizeof buf));
	say("fallocate in place", fallocate(fd, 0, 0, sizeof buf));
	say("make a longer file", ftruncate(fd, 4 * sizeof buf));
	say("write into the hole", pwrite(fd, buf, 100, 2 * sizeof buf));
	say("make it shorter", ftruncate(fd, sizeof buf));
	close(other);
	say("unlink", unlink("other"));
	printf("there is room: %ld\n", room_left());
	say("write behind the end", pwrite(fd, buf, 4096, sizeof buf));
	say("write one page more", pwrite(fd, buf, 4096, sizeof buf + 4096));
	say("write two pages more", pwrite(fd, buf, 4096, sizeof buf + 8192));
	say("truncate", ftruncate(fd, 0));
	printf("write two pages: %zd\n", pwrite(fd, buf, sizeof buf, 0));
}

static void part(const char *what, long r, int really)
{
	printf("%s: %ld\n", what, r);
	if (really) {
		truncate("file", 0);
		fill("pad", 1);
	}
	truncate("file", 0);
}

static void parts(int really)
{
	char buf[16384] = {1};
	int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600), more = open("file", O_RDWR | O_APPEND);
	if (really)
		fill("pad", 1);
	part("write two pages", write(fd, buf, 8192), really);
	printf("the position is behind them: %ld\n", (long)lseek(fd, 0, SEEK_CUR));
	lseek(fd, 0, SEEK_SET);
	part("write one page", write(fd, buf, 4096), really);
	part("write from the middle of a page", pwrite(fd, buf, 8192, 100), really);
	part("write a little over its end", pwrite(fd, buf, 300, 4000), really);
	part("write within it", pwrite(fd, buf, 300, 1000), really);
	part("append", write(more, buf, 8192), really);
	part("write nothing", pwrite(fd, buf, 0, 4000), really);
	part("write one byte", pwrite(fd, buf, 1, 4095), really);
}

static int handled;
static void handler(int s) { handled++; }

static void interrupted(int really)
{
	struct sigaction once = {.sa_handler = handler};
	struct itimerval soon = {.it_value.tv_usec = 20000};
	struct timespec day = {86400, 0}, left = {0, 0};
	struct pollfd f = {.events = POLLIN};
	struct sembuf down = {0, -1, 0};
	struct { long type; char text[8]; } message;
	int p[2], s[2], listener = socket(AF_UNIX, SOCK_STREAM, 0), locked = open("file", O_RDWR | O_CREAT, 0600), again = open("file", O_RDWR);
	struct sockaddr_un { sa_family_t family; char path[20]; } a = {AF_UNIX, "socket"};
	sigset_t usr, none;
	sigemptyset(&none);
	sigemptyset(&usr);
	sigaddset(&usr, SIGUSR2);
	sigprocmask(SIG_BLOCK, &usr, NULL);
	pipe(p);
	f.fd = p[0];
	socketpair(AF_UNIX, SOCK_STREAM, 0, s);
	bind(listener, (struct sockaddr *)&a, sizeof a);
	listen(listener, 1);
	flock(locked, LOCK_EX);
	int ep = epoll_create1(0), sems = semget(IPC_PRIVATE, 1, 0600), queue = msgget(IPC_PRIVATE, 0600);
	struct epoll_event e = {.events = EPOLLIN};
	epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &e);
	char byte;
	fd_set set;
	FD_ZERO(&set);
	FD_SET(p[0], &set);
	pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	for (int restart = 0; restart < 2; restart++) {
		once.sa_flags = restart ? SA_RESTART : 0;
		sigaction(SIGALRM, &once, NULL);
#define WAIT(what, call) do { \
		handled = 0; \
		if (really) \
			setitimer(ITIMER_REAL, &soon, NULL); \
		say(what, call); \
		printf("\thandled: %d\n", handled); \
	} while (0)
		WAIT("poll", poll(&f, 1, -1));
		WAIT("ppoll", ppoll(&f, 1, &day, &none));
		WAIT("select", select(p[0] + 1, &set, NULL, NULL, NULL));
		WAIT("epoll_wait", epoll_wait(ep, &e, 1, -1));
		WAIT("epoll_pwait", epoll_pwait(ep, &e, 1, -1, &none));
		WAIT("nanosleep", clock_nanosleep(CLOCK_MONOTONIC, 0, &day, &left) ? (errno = EINTR, -1) : 0);
		printf("\tmost of it is left: %d\n", left.tv_sec > 86000);
		WAIT("semop", semop(sems, &down, 1));
		WAIT("msgrcv", msgrcv(queue, &message, 8, 0, 0));
		WAIT("sigtimedwait", sigtimedwait(&usr, NULL, &day));
		if (restart)
			break; // the others go on waiting
		WAIT("read a pipe", read(p[0], &byte, 1));
		WAIT("read a socket", read(s[0], &byte, 1));
		WAIT("recv", recv(s[0], &byte, 1, 0));
		WAIT("accept", accept(listener, NULL, NULL));
		WAIT("flock", flock(again, LOCK_EX));
		WAIT("wait", wait(NULL));
	}
	struct timeval limit = {1000, 0};
	setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	WAIT("recv with a limit of time", recv(s[0], &byte, 1, 0));
	semctl(sems, 0, IPC_RMID);
	msgctl(queue, IPC_RMID, NULL);
	kill(child, SIGKILL);
}

static void *nothing(void *p) { return p; }

static long map(void *at, size_t size, int prot, int flags, int fd, off_t from)
{
	return mmap(at, size, prot, flags, fd, from) == MAP_FAILED ? -1 : 0;
}

static void memory(int really)
{
	const int rw = PROT_READ | PROT_WRITE, own = MAP_PRIVATE | MAP_ANONYMOUS;
	char *there = mmap(NULL, 16384, rw, own, -1, 0), *nowhere = mmap(NULL, 16384, rw, own, -1, 0);
	int in = open("/etc/passwd", O_RDONLY);
	pthread_t thread;
	munmap(nowhere, 16384);
	say("before", 0);
	if (really) {
		struct rlimit l = {1 << 16, 1 << 16};
		setrlimit(RLIMIT_AS, &l);
	}
	say("mmap", map(NULL, 4096, rw, own, -1, 0));
	say("mmap that is shared", map(NULL, 4096, rw, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	say("mmap of a file", map(NULL, 100, PROT_READ, MAP_PRIVATE, in, 0));
	say("mmap of nothing", map(NULL, 0, rw, own, -1, 0));
	say("mmap of no kind", map(NULL, 4096, rw, MAP_ANONYMOUS, -1, 0));
	say("mmap of what is not open", map(NULL, 4096, rw, MAP_PRIVATE, 99, 0));
	say("mmap of what is for reading", map(NULL, 4096, rw, MAP_SHARED, in, 0));
	say("mmap from the middle of a page", syscall(SYS_mmap, NULL, 4096, rw, MAP_PRIVATE, in, 100));
	say("mremap to more", (long)mremap(there, 16384, 1 << 20, MREMAP_MAYMOVE) == -1 ? -1 : 0);
	say("mremap to as much", (long)mremap(there, 16384, 16384, 0) == -1 ? -1 : 0);
	say("mremap to less", (long)mremap(there, 16384, 8192, 0) == -1 ? -1 : 0);
	say("mremap of nothing", (long)mremap(nowhere, 16384, 1 << 20, MREMAP_MAYMOVE) == -1 ? -1 : 0);
	say("mremap, bad flags", (long)mremap(there, 8192, 1 << 20, 64) == -1 ? -1 : 0);
	say("the break", (long)sbrk(0) == -1 ? -1 : 0);
	say("sbrk", (long)sbrk(1 << 20) == -1 ? -1 : 0);
	say("brk to no address", brk((void *)1));
	say("malloc of much", malloc(10 << 20) ? 0 : -1);
	errno = pthread_create(&thread, NULL, nothing, NULL);
	say("pthread_create", errno ? -1 : 0);
	say("munmap", munmap(there, 4096));
}

static void processes(int really)
{
	char *argv[] = {"true", NULL};
	pid_t child;
	say("before", 0);
	if (really) {
		struct rlimit l = {0, 0};
		setrlimit(RLIMIT_NPROC, &l);
		if (geteuid() == 0 && setuid(65534)) // root may have as many as it likes
			return;
	}
	child = fork();
	if (child == 0)
		_exit(0);
	say("fork", child);
	say("clone, bad flags", syscall(SYS_clone, CLONE_SIGHAND | SIGCHLD, NULL, NULL, NULL, NULL));
	say("clone of half a thread", syscall(SYS_clone, CLONE_THREAD | CLONE_VM, NULL, NULL, NULL, NULL));
	pthread_t thread;
	errno = pthread_create(&thread, NULL, nothing, NULL);
	say("pthread_create", errno ? -1 : 0);
	errno = posix_spawn(&child, "/bin/true", NULL, NULL, argv, NULL);
	say("posix_spawn", errno ? -1 : 0);
	say("popen", popen("true", "r") ? 0 : -1);
	say("system", system("true"));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(int);
	} all[] = {{"files", files}, {"room", room}, {"names", names}, {"readonly", readonly}, {"full", full}, {"parts", parts}, {"interrupted", interrupted},
		{"memory", memory}, {"processes", processes}};
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
		if (!strcmp(argv[1], all[i].name))
			all[i].run(argc > 2);
	return 0;
}
