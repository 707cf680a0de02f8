// The interpreter of package kernelfuzz: it makes the system calls that a text lists, in
// order, and prints what came of each. Nothing that legitimately differs between two systems
// is printed: ids, inode numbers, ports and addresses are named by when they were first seen.
//
//	interp FILE [native]
//
// FILE holds cases: "case NAME", one call per line, "end". A line is the process that makes the
// call (0 is the first, fork makes others), the call's name, and its arguments: numbers,
// constants by name joined by '|', $3 for what descriptor variable 3 holds, %1 for the id of
// process 1, names of files, addresses. A process takes its turn when all others rest. A call
// that would block is ended by a signal, and shows EINTR.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCS = 4, VARS = 16, LINES = 4000, WORDS = 12, REGIONS = 4, SEEN = 256 };

// world is what the processes of a case share.
static struct world {
	int turn[PROCS], done; // futexes: the line that a process is to run, the last that was
	pid_t pid[PROCS], controller;
	uint64_t seen[3][SEEN]; // inodes, ports, others
	int seen_n[3];
	uint32_t word[8]; // for futex calls
	size_t used;
	char log[1 << 18];
} *w;

static char *lines[LINES];
static int line_n, me, now_line, ports;
static long vars[VARS];
static char *regions[REGIONS];
static size_t region_size[REGIONS];
static char buf[1 << 17];
static volatile sig_atomic_t entered; // a fault is expected
static sigjmp_buf faulted;

static void out(const char *f, ...)
{
	va_list l;
	va_start(l, f);
	size_t room = sizeof w->log - w->used;
	int n = vsnprintf(w->log + w->used, room, f, l);
	va_end(l);
	if (n > 0 && (size_t)n < room)
		w->used += n;
}

static void die(const char *what)
{
	printf("cannot go on: %s: %s\n", what, strerrorname_np(errno));
	fflush(stdout);
	_exit(99);
}

// number names a value by the order in which values of its kind were first seen.
static int number(int kind, uint64_t v)
{
	for (int i = 0; i < w->seen_n[kind]; i++)
		if (w->seen[kind][i] == v)
			return i;
	if (w->seen_n[kind] == SEEN)
		return -1;
	w->seen[kind][w->seen_n[kind]] = v;
	return w->seen_n[kind]++;
}

#define C(x) {#x, x}
static const struct { const char *name; long value; } constants[] = {
	C(O_RDONLY), C(O_WRONLY), C(O_RDWR), C(O_CREAT), C(O_EXCL), C(O_TRUNC), C(O_APPEND), C(O_NONBLOCK), C(O_CLOEXEC),
	C(O_DIRECTORY), C(O_NOFOLLOW), C(O_PATH), C(O_TMPFILE), C(O_DIRECT), C(O_ASYNC), C(O_SYNC), C(O_NOATIME),
	C(SEEK_SET), C(SEEK_CUR), C(SEEK_END), C(SEEK_DATA), C(SEEK_HOLE), C(FD_CLOEXEC), C(AT_FDCWD), C(AT_REMOVEDIR),
	C(AT_SYMLINK_NOFOLLOW), C(AT_SYMLINK_FOLLOW), C(AT_EMPTY_PATH), C(RENAME_NOREPLACE), C(RENAME_EXCHANGE),
	C(S_IFREG), C(S_IFIFO), C(S_IFSOCK), C(S_IFDIR), C(R_OK), C(W_OK), C(X_OK), C(F_OK),
	C(FALLOC_FL_KEEP_SIZE), C(FALLOC_FL_PUNCH_HOLE), C(FALLOC_FL_COLLAPSE_RANGE), C(FALLOC_FL_ZERO_RANGE),
	C(FALLOC_FL_INSERT_RANGE), C(LOCK_SH), C(LOCK_EX), C(LOCK_UN), C(LOCK_NB), C(F_RDLCK), C(F_WRLCK), C(F_UNLCK),
	C(F_GETLK), C(F_SETLK), C(F_SETLKW), C(F_OFD_GETLK), C(F_OFD_SETLK), C(F_OFD_SETLKW), C(F_DUPFD), C(F_DUPFD_CLOEXEC),
	C(F_GETFD), C(F_SETFD), C(F_GETFL), C(F_SETFL), C(F_SETPIPE_SZ), C(F_GETPIPE_SZ), C(F_GETOWN), C(F_SETOWN), C(F_SETSIG),
	C(F_GETSIG), C(F_ADD_SEALS), C(F_GET_SEALS), C(F_SEAL_SEAL), C(F_SEAL_SHRINK), C(F_SEAL_GROW), C(F_SEAL_WRITE),
	C(MFD_CLOEXEC), C(MFD_ALLOW_SEALING), C(SPLICE_F_NONBLOCK), C(SPLICE_F_MOVE), C(SPLICE_F_MORE), C(EFD_NONBLOCK),
	C(EFD_SEMAPHORE), C(EFD_CLOEXEC), C(TFD_NONBLOCK), C(TFD_TIMER_ABSTIME), C(SFD_NONBLOCK), C(CLOCK_REALTIME),
	C(CLOCK_MONOTONIC), C(CLOCK_BOOTTIME), C(EPOLL_CTL_ADD), C(EPOLL_CTL_DEL), C(EPOLL_CTL_MOD), C(EPOLLIN), C(EPOLLOUT),
	C(EPOLLRDHUP), C(EPOLLPRI), C(EPOLLERR), C(EPOLLHUP), C(EPOLLET), C(EPOLLONESHOT), C(EPOLLEXCLUSIVE), C(EPOLL_CLOEXEC),
	C(POLLIN), C(POLLOUT), C(POLLPRI), C(POLLRDHUP), C(AF_UNIX), C(AF_INET), C(AF_INET6), C(SOCK_STREAM), C(SOCK_DGRAM),
	C(SOCK_SEQPACKET), C(SOCK_RAW), C(SOCK_NONBLOCK), C(SOCK_CLOEXEC), C(SHUT_RD), C(SHUT_WR), C(SHUT_RDWR), C(MSG_PEEK), C(MSG_TRUNC),
	C(MSG_WAITALL), C(MSG_DONTWAIT), C(MSG_NOSIGNAL), C(MSG_OOB), C(MSG_MORE), C(MSG_EOR), C(MSG_CMSG_CLOEXEC),
	C(MSG_ERRQUEUE), C(MSG_CTRUNC), C(SOL_SOCKET), C(IPPROTO_TCP), C(IPPROTO_UDP), C(IPPROTO_IP), C(IPPROTO_IPV6),
	C(SO_REUSEADDR), C(SO_KEEPALIVE), C(SO_BROADCAST), C(SO_LINGER), C(SO_RCVLOWAT), C(SO_TYPE), C(SO_DOMAIN), C(SO_PROTOCOL),
	C(SO_ERROR), C(SO_ACCEPTCONN), C(SO_REUSEPORT), C(SO_OOBINLINE), C(SO_PRIORITY), C(SO_PASSCRED), C(TCP_NODELAY), C(TCP_CORK), C(TCP_KEEPIDLE),
	C(TCP_DEFER_ACCEPT), C(TCP_LINGER2), C(TCP_USER_TIMEOUT), C(IP_TTL), C(IP_TOS), C(IPV6_V6ONLY), C(UDP_CORK), C(FIONREAD), C(FIONBIO), C(FIOCLEX),
	C(SIGHUP), C(SIGINT), C(SIGQUIT), C(SIGABRT), C(SIGUSR1), C(SIGUSR2), C(SIGPIPE), C(SIGTERM), C(SIGCHLD), C(SIGCONT),
	C(SIGSTOP), C(SIGTSTP), C(SIGTTIN), C(SIGURG), C(SIGWINCH), C(SIGIO), C(SIGKILL), C(SIGXFSZ), C(SIG_BLOCK), C(SIG_UNBLOCK), C(SIG_SETMASK),
	{"SIGRT0", 34}, {"SIGRT1", 35}, {"DFL", 0}, {"IGN", 1}, {"HANDLER", 2},
	C(SA_RESTART), C(SA_NODEFER), C(SA_RESETHAND), C(SA_NOCLDSTOP), C(SA_NOCLDWAIT), C(SA_SIGINFO),
	C(ITIMER_REAL), C(ITIMER_VIRTUAL), C(ITIMER_PROF), C(FUTEX_WAIT), C(FUTEX_WAKE), C(FUTEX_PRIVATE_FLAG), C(FUTEX_LOCK_PI),
	C(FUTEX_UNLOCK_PI), C(FUTEX_TRYLOCK_PI), C(FUTEX_WAIT_BITSET), C(FUTEX_WAKE_BITSET), C(FUTEX_CMP_REQUEUE), C(FUTEX_REQUEUE), C(FUTEX_WAKE_OP),
	C(PROT_NONE), C(PROT_READ), C(PROT_WRITE), C(PROT_EXEC), C(MAP_SHARED), C(MAP_PRIVATE), C(MAP_ANONYMOUS), C(MAP_POPULATE),
	C(MAP_NORESERVE), C(MAP_SHARED_VALIDATE), C(MADV_DONTNEED), C(MADV_WILLNEED), C(MADV_FREE), C(MADV_DONTFORK), C(MADV_WIPEONFORK), C(MADV_KEEPONFORK), C(MADV_DOFORK), C(MADV_NORMAL), C(MADV_REMOVE), C(MS_SYNC), C(MS_ASYNC), C(MS_INVALIDATE),
	C(MREMAP_MAYMOVE), C(WNOHANG), C(WUNTRACED), C(WCONTINUED), C(WEXITED), C(WSTOPPED), C(WNOWAIT), C(P_ALL), C(P_PID), C(P_PGID),
	C(PRIO_PROCESS), C(PRIO_PGRP), C(PRIO_USER), C(SCHED_OTHER), C(SCHED_BATCH), C(SCHED_IDLE), C(SCHED_FIFO), C(SCHED_RR),
	C(RLIMIT_NOFILE), C(RLIMIT_FSIZE), C(RLIMIT_CORE), C(RLIMIT_CPU), C(RLIMIT_STACK), C(PR_SET_NAME), C(PR_GET_NAME), C(PR_SET_PDEATHSIG), C(PR_GET_PDEATHSIG),
	C(PR_SET_DUMPABLE), C(PR_GET_DUMPABLE), C(PR_SET_NO_NEW_PRIVS), C(PR_GET_NO_NEW_PRIVS), C(PR_SET_KEEPCAPS), C(PR_GET_KEEPCAPS), C(PR_SET_TIMERSLACK), C(PR_GET_TIMERSLACK), C(PR_SET_CHILD_SUBREAPER), C(PR_GET_CHILD_SUBREAPER), C(PR_GET_SECUREBITS),
	C(IPC_CREAT), C(IPC_EXCL), C(IPC_PRIVATE), C(IPC_NOWAIT), C(IPC_RMID), C(IPC_STAT), C(MSG_NOERROR), C(MSG_EXCEPT), C(SEM_UNDO), C(GETVAL), C(SETVAL), C(GETPID),
	C(GETNCNT), C(GETZCNT), C(GETALL), C(SHM_RDONLY), C(POSIX_FADV_NORMAL), C(POSIX_FADV_DONTNEED), C(UTIME_NOW), C(UTIME_OMIT),
};

// value reads an argument.
static long value(const char *s)
{
	if (*s == '$')
		return vars[atoi(s + 1) % VARS];
	if (*s == '%')
		return w->pid[atoi(s + 1) % PROCS];
	if (!strncmp(s, "-%", 2))
		return -(long)w->pid[atoi(s + 2) % PROCS];
	long v = 0;
	char part[64];
	for (const char *p = s; *p;) {
		size_t n = strcspn(p, "|");
		snprintf(part, sizeof part, "%.*s", (int)n, p);
		char *end;
		long x = strtol(part, &end, 0);
		if (*end || end == part) {
			size_t i, m = sizeof constants / sizeof *constants;
			for (i = 0; i < m && strcmp(constants[i].name, part); i++)
				;
			x = i < m ? constants[i].value : 0;
			if (i == m && (*part >= 'A' && *part <= 'Z') && part[1])
				out("[no constant %s]", part);
		}
		v |= x;
		p += n;
		p += *p == '|';
	}
	return v;
}

// address makes a socket address: u:NAME, @NAME, i:PORT, a:PORT (any), 6:PORT, none.
static socklen_t address(const char *s, struct sockaddr_storage *a)
{
	memset(a, 0, sizeof *a);
	int port = strlen(s) > 2 ? atoi(s + 2) : 0;
	if (port)
		port += ports;
	if (*s == 'u' || *s == '@') {
		struct sockaddr_un *u = (void *)a;
		u->sun_family = AF_UNIX;
		if (*s == '@') {
			strcpy(u->sun_path + 1, s + 1);
			return offsetof(struct sockaddr_un, sun_path) + strlen(s);
		}
		strcpy(u->sun_path, s + 2);
		return strlen(s) == 2 ? 2 : sizeof *u;
	}
	if (*s == 'i' || *s == 'a') {
		struct sockaddr_in *i = (void *)a;
		*i = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(*s == 'i' ? 0x7f000001 : 0)};
		return sizeof *i;
	}
	if (*s == '6') {
		struct sockaddr_in6 *i = (void *)a;
		*i = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(port)};
		i->sin6_addr.s6_addr[15] = port % 2; // ::1, or any
		return sizeof *i;
	}
	return sizeof(struct sockaddr_in); // AF_UNSPEC
}

static void show_port(int port)
{
	if ((port >= ports && port < ports + 10) || !port)
		out(":%d", port ? port - ports : 0);
	else
		out(":p%d", number(1, port));
}

static void show_address(const struct sockaddr_storage *a, socklen_t n)
{
	out(" from %d ", (int)n);
	if (n < 2)
		return;
	if (a->ss_family == AF_UNIX) {
		const struct sockaddr_un *u = (void *)a;
		if (n == 2)
			out("unnamed");
		else if (!u->sun_path[0] && n == 8)
			out("autobound");
		else if (!u->sun_path[0])
			out("@%.*s", (int)n - 3, u->sun_path + 1);
		else
			out("%s", u->sun_path);
	} else if (a->ss_family == AF_INET) {
		const struct sockaddr_in *i = (void *)a;
		out("%08x", ntohl(i->sin_addr.s_addr));
		show_port(ntohs(i->sin_port));
	} else if (a->ss_family == AF_INET6) {
		const struct sockaddr_in6 *i = (void *)a;
		out("6:%x..%x%x", i->sin6_addr.s6_addr[0], i->sin6_addr.s6_addr[10], i->sin6_addr.s6_addr[15]);
		show_port(ntohs(i->sin6_port));
	} else
		out("family %d", a->ss_family);
}

static void show_bytes(const char *b, long n)
{
	if (n <= 0)
		return;
	unsigned sum = 0;
	for (long i = 0; i < n; i++)
		sum = sum * 31 + (unsigned char)b[i];
	out(" \"");
	for (long i = 0; i < n && i < 12; i++)
		out(b[i] > 32 && b[i] < 127 ? "%c" : "\\%02x", b[i] & 255);
	out(n > 12 ? "...\" %08x" : "\"", sum);
}

// show_pid names a process.
static void show_pid(pid_t pid)
{
	for (int i = 0; i < PROCS; i++)
		if (pid > 0 && w->pid[i] == pid) {
			out("%%%d", i);
			return;
		}
	if (pid == w->controller)
		out("controller");
	else if (pid <= 1)
		out("%d", (int)pid);
	else
		out("other");
}

// pattern fills the buffer with bytes that tell the line.
static char *pattern(size_t n)
{
	if (n > sizeof buf)
		n = sizeof buf;
	for (size_t i = 0; i < n; i++)
		buf[i] = 'a' + (now_line + i) % 26;
	return buf;
}

static size_t limit(long n) { return n < 0 ? 0 : (size_t)n > sizeof buf ? sizeof buf : (size_t)n; }

static void handler(int sig, siginfo_t *si, void *ctx)
{
	(void)ctx;
	int e = errno;
	if (sig == SIGALRM)
		return;
	if ((sig == SIGSEGV || sig == SIGBUS) && entered) {
		entered = 0;
		siglongjmp(faulted, sig);
	}
	if (sig == SIGSEGV || sig == SIGBUS) {
		signal(sig, SIG_DFL); // the interpreter's own
		return;
	}
	out("  [%%%d got %d code %d", me, sig, si->si_code);
	if (si->si_code <= 0 && sig >= 34)
		out(" value %d", si->si_value.sival_int);
	if (sig == SIGCHLD && si->si_code > 0) {
		out(" of ");
		show_pid(si->si_pid);
		out(" status %d", si->si_status);
	}
	out("]\n");
	errno = e;
}

static timer_t guard;

static void arm(int on)
{
	struct itimerspec t = {{0, on * 4000000}, {0, on * 4000000}};
	timer_settime(guard, 0, &t, NULL);
}

static void new_guard(void)
{
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	sigaction(SIGALRM, &sa, NULL);
	sa.sa_flags |= SA_NODEFER;
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
	if (timer_create(CLOCK_MONOTONIC, &ev, &guard) < 0)
		die("timer_create");
}

static sigset_t set_of(unsigned long bits)
{
	sigset_t s;
	sigemptyset(&s);
	memcpy(&s, &bits, sizeof bits);
	sigdelset(&s, SIGALRM);
	sigdelset(&s, SIGSEGV);
	sigdelset(&s, SIGBUS);
	return s;
}

static void show_set(sigset_t *s)
{
	unsigned long bits;
	memcpy(&bits, s, sizeof bits);
	out(" %lx", bits & ~(1UL << (SIGALRM - 1)));
}

static void show_stat(const struct stat *st)
{
	out(" mode %o links %d size %ld owner %d.%d inode %d", st->st_mode, (int)st->st_nlink,
		S_ISREG(st->st_mode) || S_ISLNK(st->st_mode) ? (long)st->st_size : 0L, st->st_uid, st->st_gid,
		S_ISREG(st->st_mode) ? number(0, st->st_ino) : 0);
	if (st->st_mtim.tv_sec < 1000000)
		out(" mtime %ld.%ld", (long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
	if (st->st_atim.tv_sec < 1000000 && !S_ISDIR(st->st_mode))
		out(" atime %ld", (long)st->st_atim.tv_sec);
}

static int by_name(const void *a, const void *b) { return strcmp(*(char **)a, *(char **)b); }

static void show_status(int st)
{
	if (WIFEXITED(st))
		out(" exited %d", WEXITSTATUS(st));
	else if (WIFSIGNALED(st))
		out(" killed %d%s", WTERMSIG(st), WCOREDUMP(st) ? " core" : "");
	else if (WIFSTOPPED(st))
		out(" stopped %d", WSTOPSIG(st));
	else if (WIFCONTINUED(st))
		out(" continued");
}

// room returns where region k lies: in address space that nothing else uses, with some
// before and behind it.
static char *room(int k)
{
	static char *area;
	enum { EACH = 1 << 20 };
	if (!area)
		area = mmap(NULL, REGIONS * EACH, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *at = area + k * EACH;
	munmap(at, EACH);
	return at + 65536;
}

static void worker(int from);

#include "calls.h"

// split cuts a line into words.
static int split(char *line, char **words)
{
	int n = 0;
	for (char *p = strtok(line, " "); p && n < WORDS; p = strtok(NULL, " "))
		words[n++] = p;
	return n;
}

// run makes the call of one line.
static void run(int i)
{
	char line[300], *words[WORDS] = {0};
	snprintf(line, sizeof line, "%s", lines[i]);
	int n = split(line, words);
	long a[WORDS] = {0};
	char *s[WORDS];
	for (int j = 0; j < WORDS; j++)
		s[j] = "";
	now_line = i;
	out("%d: %s", i, lines[i]);
	for (int j = 2; j < n; j++) {
		s[j - 2] = words[j];
		a[j - 2] = value(words[j]);
	}
	for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
		if (!strcmp(calls[k].name, words[1])) {
			arm(1);
			errno = 0;
			calls[k].f(a, s);
			arm(0);
			out("\n");
			return;
		}
	out(" unknown call\n");
}

static long futex(int *word, int op, int val, struct timespec *t) { return syscall(SYS_futex, word, op, val, t, NULL, 0); }

// worker makes the calls of process me from line from on.
static void worker(int from)
{
	for (int i = from; i < line_n; i++) {
		if (atoi(lines[i]) != me)
			continue;
		int t;
		while ((t = __atomic_load_n(&w->turn[me], __ATOMIC_SEQ_CST)) != i + 1)
			futex(&w->turn[me], FUTEX_WAIT, t, NULL);
		run(i);
		__atomic_store_n(&w->done, i + 1, __ATOMIC_SEQ_CST);
		futex(&w->done, FUTEX_WAKE, 1, NULL);
	}
	for (;;)
		syscall(SYS_futex, &w->turn[me], FUTEX_WAIT, w->turn[me], NULL, NULL, 0);
}

// state is a process's state as /proc shows it, Z when it is gone.
static int state(pid_t pid)
{
	char name[40], b[300];
	snprintf(name, sizeof name, "/proc/%d/stat", pid);
	int fd = open(name, O_RDONLY);
	if (fd < 0)
		return 'Z';
	ssize_t n = read(fd, b, sizeof b - 1);
	close(fd);
	b[n > 0 ? n : 0] = 0;
	char *p = strrchr(b, ')');
	return p ? p[2] : 'Z';
}

// rest waits until no process runs.
static void rest(void)
{
	for (int i = 0; i < PROCS; i++)
		for (int tries = 0; w->pid[i] && strchr("RD", state(w->pid[i])) && tries < 2000; tries++)
			usleep(50);
}

static int one_case(const char *name, int index)
{
	char dir[40];
	int many = 0;
	memset(w, 0, offsetof(struct world, log));
	w->controller = getpid();
	ports = 10000 + index % 2000 * 10; // no case meets what another left
	for (int i = 0; i < line_n; i++)
		many |= atoi(lines[i]) != 0 || strstr(lines[i], " kill ") || strstr(lines[i], " exit");
	snprintf(dir, sizeof dir, "c%d", index);
	if (mkdir(dir, 0755) < 0)
		die("mkdir");
	pid_t first = fork();
	if (first < 0)
		die("fork");
	if (!first) {
		w->pid[0] = getpid();
		if (chdir(dir) < 0)
			die("chdir");
		setsid();
		umask(022);
		syscall(SYS_setgroups, 0, NULL);
		setpriority(PRIO_PROCESS, 0, 0);
		for (int i = 0; i < VARS; i++)
			vars[i] = -2;
		// Nothing of the machine's is open: a case may do anything to what it holds.
		int none = memfd_create("none", 0);
		for (int i = 0; i < 3; i++)
			dup2(none, i);
		close(none);
		new_guard();
		worker(0);
	}
	w->pid[0] = first;
	for (int i = 0; i < line_n; i++) {
		int p = atoi(lines[i]) % PROCS;
		if (many)
			rest();
		int st = w->pid[p] ? many ? state(w->pid[p]) : 'S' : 'Z';
		if (strchr("ZXT", st)) {
			out("%d: %%%d is %s\n", i, p, st == 'T' ? "stopped" : "gone");
			continue;
		}
		__atomic_store_n(&w->turn[p], i + 1, __ATOMIC_SEQ_CST);
		futex(&w->turn[p], FUTEX_WAKE, 1, NULL);
		for (int tries = 0; __atomic_load_n(&w->done, __ATOMIC_SEQ_CST) != i + 1; tries++) {
			struct timespec t = {0, 20000000};
			int d = w->done;
			if (d != i + 1 && futex(&w->done, FUTEX_WAIT, d, &t) < 0 && errno == ETIMEDOUT) {
				if (strchr("ZXT", state(w->pid[p]))) {
					out(" %%%d is %s\n", p, state(w->pid[p]) == 'T' ? "stopped" : "gone");
					break;
				}
				if (tries > 150) {
					out(" hangs\n");
					i = line_n;
					break;
				}
			}
		}
	}
	rest();
	for (int i = 0; i < PROCS; i++)
		if (w->pid[i])
			kill(w->pid[i], SIGKILL);
	int st;
	while (waitpid(-1, &st, 0) > 0)
		;
	for (int key = 1; key < 4; key++) {
		msgctl(msgget(key, 0), IPC_RMID, NULL);
		semctl(semget(key, 0, 0), 0, IPC_RMID);
		shmctl(shmget(key, 0, 0), IPC_RMID, NULL);
	}
	printf("case %s\n", name);
	fwrite(w->log, 1, w->used, stdout);
	printf("end\n");
	fflush(stdout);
	return 0;
}

// loopback sets lo up: in a network namespace of our own it is down.
static void loopback(void)
{
	struct ifreq r = {0};
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	strcpy(r.ifr_name, "lo");
	if (ioctl(s, SIOCGIFFLAGS, &r) == 0 && !(r.ifr_flags & IFF_UP)) {
		r.ifr_flags |= IFF_UP;
		ioctl(s, SIOCSIFFLAGS, &r);
	}
	close(s);
}

// confine makes all but the working directory read-only, in a mount namespace of our own.
static void confine(void)
{
	char here[PATH_MAX];
	if (!getcwd(here, sizeof here) || mount(here, here, NULL, MS_BIND, NULL) < 0)
		die("mount");
	mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL);
	mount(NULL, "/dev", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID, NULL);
	if (chdir(here) < 0)
		die("chdir");
}

int main(int argc, char **argv)
{
	static char name[100], *text;
	size_t size = 0;
	FILE *f = argc > 1 ? fopen(argv[1], "re") : NULL, *m = open_memstream(&text, &size);
	if (!f || !m)
		die("open");
	for (int c; (c = getc(f)) != EOF;)
		putc(c, m);
	fclose(f); // the processes of the cases have nothing open but the standard descriptors
	fclose(m);
	syscall(SYS_close_range, 3, ~0U, 0);
	loopback();
	if (argc > 2)
		confine();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (w == MAP_FAILED)
		die("mmap");
	int index = 0;
	for (char *next, *line = text; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = 0;
		if (!strncmp(line, "case ", 5)) {
			snprintf(name, sizeof name, "%s", line + 5);
			line_n = 0;
		} else if (!strcmp(line, "end")) {
			one_case(name, index++);
			while (line_n)
				free(lines[--line_n]);
		} else if (*line && *line != '#' && line_n < LINES)
			lines[line_n++] = strdup(line);
	}
	return 0;
}
