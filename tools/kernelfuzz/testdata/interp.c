// The interpreter of package kernelfuzz: it makes the system calls that a text lists, in
// order, and prints what came of each. Nothing that legitimately differs between two systems
// is printed: ids, inode numbers, ports and addresses are named by when they were first seen.
//
//	interp FILE [native | a | b]
//
// FILE holds cases: "case NAME", one call per line, "end". A line is the process or thread that
// makes the call (0 is the first, fork and thread make others), the call's name, and its
// arguments: numbers, constants by name joined by '|', $3 for what descriptor variable 3 holds,
// %1 for the id of process 1, names of files, addresses. Processes 3 to 5 are those of a second
// machine, b, of which 3 is the first. A process takes its turn when all others rest. A call
// that would block is ended by a signal, and shows EINTR; one with & before its name waits while
// others go on, and is interrupted when its process has its next turn.
//
// Machine a goes through the lines and tells b over a connection when it is b's turn. Natively
// (native) b is a network namespace that is joined to a's.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/mqueue.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
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
#include <sys/inotify.h>
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

enum { HERE = 3, PROCS = 2 * HERE, VARS = 16, LINES = 4000, WORDS = 12, REGIONS = 4, SEEN = 256, LOG = 1 << 16, TIMERS = 3, SHARED = 900 };

struct log {
	size_t used;
	char text[LOG];
};

// world is what the processes of a case share that are on one machine.
static struct world {
	int turn[PROCS], done[PROCS]; // futexes: the line that a process is to run, the last it did, each + 1
	int busy[PROCS];	      // the line whose call waits, + 1
	int executes;		      // somebody is in execve: a thread changes its id there
	pid_t pid[PROCS], group[PROCS], controller;
	uint64_t seen[3][SEEN]; // inodes, ports, others
	int seen_n[3];
	uint32_t word[8]; // for futex calls
	pthread_mutex_t mutex[3];
	pthread_cond_t cond[2];
	pthread_rwlock_t rwlock;
	sem_t sem;
	struct { // what a process that executes the interpreter again still knows
		long vars[VARS];
		int ports;
	} kept;
	char text[LOG];		// the lines of the case
	struct log log;		// what came of it
	struct log late[PROCS]; // what a process prints when it is not its turn
} *w;

static char *lines[LINES];
static int line_n, ports, machine;
static __thread int me, now_line;
static __thread struct log *to;
static long vars[VARS];
static char *regions[REGIONS];
static size_t region_size[REGIONS];
static __thread char buf[1 << 17];
static __thread volatile sig_atomic_t entered; // a fault is expected
static __thread sigjmp_buf faulted;

static void out(const char *f, ...)
{
	struct log *g = to ? to : &w->log;
	va_list l;
	va_start(l, f);
	size_t room = LOG - g->used;
	int n = vsnprintf(g->text + g->used, room, f, l);
	va_end(l);
	if (n > 0 && (size_t)n < room)
		g->used += n;
}

static long futex(int *word, int op, int val, struct timespec *t) { return syscall(SYS_futex, word, op, val, t, NULL, 0); }

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
	C(CLOCK_PROCESS_CPUTIME_ID), C(CLOCK_THREAD_CPUTIME_ID), C(CLOCK_REALTIME_COARSE), C(CLOCK_TAI), C(TIMER_ABSTIME), C(SIGEV_SIGNAL), C(SIGEV_NONE), C(SIGEV_THREAD_ID),
	C(TFD_TIMER_CANCEL_ON_SET), C(TFD_CLOEXEC), C(SFD_CLOEXEC), C(F_GETOWN), C(FUTEX_CLOCK_REALTIME), C(FUTEX_WAKE_BITSET), C(FUTEX_LOCK_PI2),
	C(PTHREAD_MUTEX_NORMAL), C(PTHREAD_MUTEX_RECURSIVE), C(PTHREAD_MUTEX_ERRORCHECK), C(RLIMIT_AS), C(RLIMIT_NPROC), C(RLIMIT_MEMLOCK), C(RLIMIT_DATA),
	C(SIOCINQ), C(SIOCOUTQ), C(SIOCATMARK), C(SO_RCVBUF), C(SO_BROADCAST), C(IP_RECVERR), C(IPV6_RECVERR), C(IP_PKTINFO), C(IP_RECVTTL), C(SO_TIMESTAMP), C(SO_RCVTIMEO), C(SO_SNDTIMEO), C(TCP_MAXSEG), C(TCP_QUICKACK), C(SIGALRM), C(SIGVTALRM), C(SIGPROF),
	C(IPC_CREAT), C(IPC_EXCL), C(IPC_PRIVATE), C(IPC_NOWAIT), C(IPC_RMID), C(IPC_STAT), C(MSG_NOERROR), C(MSG_EXCEPT), C(SEM_UNDO), C(GETVAL), C(SETVAL), C(GETPID),
	C(GETNCNT), C(GETZCNT), C(GETALL), C(SHM_RDONLY), C(POSIX_FADV_NORMAL), C(POSIX_FADV_DONTNEED), C(UTIME_NOW), C(UTIME_OMIT),
	C(IN_ACCESS), C(IN_ATTRIB), C(IN_CLOSE_WRITE), C(IN_CLOSE_NOWRITE), C(IN_CREATE), C(IN_DELETE), C(IN_DELETE_SELF), C(IN_MODIFY), C(IN_MOVE_SELF), C(IN_MOVE),
	C(IN_OPEN), C(IN_ALL_EVENTS), C(IN_ONESHOT), C(IN_ONLYDIR), C(IN_DONT_FOLLOW), C(IN_EXCL_UNLINK), C(IN_MASK_ADD), C(IN_MASK_CREATE), C(IN_NONBLOCK), C(IN_CLOEXEC),
	C(SO_SNDBUF), C(SO_SNDLOWAT), C(SO_MARK), C(SO_DONTROUTE), C(SO_NO_CHECK), C(SO_BINDTOIFINDEX), C(TCP_KEEPINTVL), C(TCP_KEEPCNT), C(TCP_SYNCNT), C(TCP_WINDOW_CLAMP),
	C(TCP_FASTOPEN), C(TCP_NOTSENT_LOWAT), C(IP_MULTICAST_TTL), C(IP_MULTICAST_LOOP), C(IP_MULTICAST_ALL), C(IP_FREEBIND), C(IP_BIND_ADDRESS_NO_PORT), C(IP_RECVTOS),
	C(IP_MTU_DISCOVER), C(IPV6_UNICAST_HOPS), C(IPV6_MULTICAST_HOPS), C(IPV6_MULTICAST_LOOP), C(IPV6_TCLASS), C(IPV6_RECVPKTINFO), C(IPV6_RECVHOPLIMIT), C(IPV6_RECVTCLASS),
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
			if (i == m && (*part >= 'A' && *part <= 'Z') && part[1] && part[1] != ':')
				out("[no constant %s]", part);
		}
		v |= x;
		p += n;
		p += *p == '|';
	}
	return v;
}

// address makes a socket address: u:NAME, @NAME, i:PORT, a:PORT (any), 6:PORT, none; A:PORT and
// B:PORT of the two machines, C:PORT and D:PORT of the two with IPv6.
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
	if (*s && s[1] == ':' && strchr("iaAB", *s)) {
		struct sockaddr_in *i = (void *)a;
		*i = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(*s == 'i' ? 0x7f000001 : *s == 'a' ? 0 : 0x0a000001 + *s - 'A')};
		return sizeof *i;
	}
	if (*s && s[1] == ':' && strchr("6CD", *s)) {
		struct sockaddr_in6 *i = (void *)a;
		*i = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(port)};
		i->sin6_addr.s6_addr[15] = port % 2; // ::1, or any
		if (*s != '6') {
			i->sin6_addr.s6_addr[0] = 0xfd;
			i->sin6_addr.s6_addr[15] = 1 + *s - 'C';
		}
		return sizeof *i;
	}
	return sizeof(struct sockaddr_in); // AF_UNSPEC
}

static void show_port(int port)
{
	if ((port >= ports && port < ports + 10) || !port)
		out(":%d", port ? port - ports : 0);
	else
		out(":\001%d\002", port); // named when it is printed
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

static __thread timer_t guard;

static void arm(int on)
{
	struct itimerspec t = {{0, on * 4000000}, {0, on * 4000000}};
	timer_settime(guard, 0, &t, NULL);
}

static void new_guard(void)
{
	struct sigevent ev = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM, ._sigev_un._tid = gettid()};
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
	int n = split(line, words), waits = *words[1] == '&';
	long a[WORDS] = {0};
	char *s[WORDS];
	for (int j = 0; j < WORDS; j++)
		s[j] = "";
	now_line = i;
	to = &w->log;
	out("%d: %s", i, lines[i]);
	for (int j = 2; j < n; j++) {
		s[j - 2] = words[j];
		a[j - 2] = value(words[j]);
	}
	size_t k = 0, m = sizeof calls / sizeof *calls;
	while (k < m && strcmp(calls[k].name, words[1] + waits))
		k++;
	if (k == m) {
		out(" unknown call\n");
		return;
	}
	if (waits) {
		out("\n");
		to = &w->late[me];
		out("%d: %s", i, lines[i]);
		__atomic_store_n(&w->busy[me], i + 1, __ATOMIC_SEQ_CST);
	} else
		arm(1);
	errno = 0;
	calls[k].f(a, s);
	if (!waits)
		arm(0);
	out("\n");
	__atomic_store_n(&w->busy[me], 0, __ATOMIC_SEQ_CST);
}

// did says that this process has made its call.
static void did(int t)
{
	to = &w->late[me];
	__atomic_store_n(&w->done[me], t, __ATOMIC_SEQ_CST);
	futex(&w->done[me], FUTEX_WAKE, 1, NULL);
}

// worker makes the calls of process me, whose last turn was the given one.
static void worker(int last)
{
	to = &w->late[me];
	for (;;) {
		int t;
		while ((t = __atomic_load_n(&w->turn[me], __ATOMIC_SEQ_CST)) == last)
			futex(&w->turn[me], FUTEX_WAIT, t, NULL);
		last = t;
		run(t - 1);
		did(t);
	}
}

// state is a process's or thread's state as /proc shows it, Z when it is gone.
static int state(int p)
{
	char name[60], b[300];
	snprintf(name, sizeof name, "/proc/%d/task/%d/stat", w->group[p], w->pid[p]);
	int fd = w->pid[p] ? open(name, O_RDONLY) : -1;
	if (fd < 0)
		return 'Z';
	ssize_t n = read(fd, b, sizeof b - 1);
	close(fd);
	b[n > 0 ? n : 0] = 0;
	char *q = strrchr(b, ')');
	return q ? q[2] : 'Z';
}

// flush adds to the log what processes printed when it was not their turn.
static void flush(void)
{
	for (int i = 0; i < PROCS; i++) {
		struct log *g = &w->late[i];
		char *end = memrchr(g->text, '\n', g->used);
		if (!end)
			continue;
		size_t n = end + 1 - g->text;
		if (w->log.used + n < LOG) {
			memcpy(w->log.text + w->log.used, g->text, n);
			w->log.used += n;
		}
		g->used -= n;
		memmove(g->text, end + 1, g->used);
	}
}

// rest waits until no process runs.
static void rest(void)
{
	for (int i = 0; i < PROCS; i++)
		for (int tries = 0; strchr("RD", state(i)) && tries < 2000; tries++)
			usleep(50);
	flush();
}

// begin starts the first process of this machine.
static void begin(int index)
{
	char dir[40];
	int p = machine * HERE;
	w->controller = getpid();
	snprintf(dir, sizeof dir, "c%d%s", index, machine ? "b" : "");
	if (mkdir(dir, 0755) < 0)
		die("mkdir");
	pid_t first = fork();
	if (first < 0)
		die("fork");
	if (!first) {
		syscall(SYS_close_range, 3, SHARED - 1, 0);
		me = p;
		w->pid[p] = w->group[p] = getpid();
		if (chdir(dir) < 0)
			die("chdir");
		setsid();
		umask(022);
		syscall(SYS_setgroups, 0, NULL);
		setpriority(PRIO_PROCESS, 0, 0);
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){1024, 4096});
		setrlimit(RLIMIT_CORE, &(struct rlimit){0, RLIM_INFINITY});
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
	w->pid[p] = w->group[p] = first;
}

// interrupt ends the call that a process still waits in.
static int interrupt(int p)
{
	for (int tries = 0; __atomic_load_n(&w->busy[p], __ATOMIC_SEQ_CST) && tries < 100; tries++) {
		if (strchr("ZXT", state(p)))
			return 1;
		syscall(SYS_tgkill, w->group[p], w->pid[p], SIGALRM);
		usleep(200 + tries * tries); // a loaded machine takes long to run the process
	}
	flush();
	return !w->busy[p];
}

// step lets a process of this machine make the call of a line; it is false when that goes on
// for ever.
static int step(int i, int many)
{
	int p = atoi(lines[i]) % PROCS, waits = strstr(lines[i], " &") != NULL;
	many ? rest() : flush();
	if (!interrupt(p)) {
		out("%d: %%%d cannot be interrupted\n", i, p);
		return 1;
	}
	int st = many || !w->pid[p] ? state(p) : 'S';
	if (strchr("ZXT", st)) {
		out("%d: %%%d is %s\n", i, p, st == 'T' ? "stopped" : "gone");
		return 1;
	}
	__atomic_store_n(&w->turn[p], i + 1, __ATOMIC_SEQ_CST);
	futex(&w->turn[p], FUTEX_WAKE, 1, NULL);
	for (int tries = 0; __atomic_load_n(&w->done[p], __ATOMIC_SEQ_CST) != i + 1; tries++) {
		if (waits && __atomic_load_n(&w->busy[p], __ATOMIC_SEQ_CST) == i + 1 && strchr("SZXT", state(p)))
			break;
		struct timespec t = {0, waits ? 50000 : 20000000};
		int d = w->done[p];
		if (d == i + 1 || futex(&w->done[p], FUTEX_WAIT, d, &t) == 0 || errno != ETIMEDOUT)
			continue;
		if (w->executes && tries < 100)
			continue;
		if (strchr("ZXT", state(p))) {
			out(" %%%d is %s\n", p, state(p) == 'T' ? "stopped" : "gone");
			break;
		}
		if (tries > (waits ? 60000 : 150)) {
			out(" hangs\n");
			return 0;
		}
	}
	many ? rest() : flush();
	return 1;
}

// finish ends all processes of this machine.
static void finish(void)
{
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
	syscall(SYS_mq_unlink, "q");
	syscall(SYS_mq_unlink, "r");
}

static int other = -1; // the connection to the other machine

static void must(int fd, void *b, size_t n, int writes)
{
	for (char *p = b; n;) {
		ssize_t k = writes ? write(fd, p, n) : read(fd, p, n);
		if (k <= 0)
			die("the other machine");
		p += k;
		n -= k;
	}
}

// Orders that machine a gives in place of a line.
enum { LOOK = -1, END = -2 };

// ask lets machine b run a line, and adds what it printed.
static int ask(int line)
{
	int head[2];
	must(other, &line, sizeof line, 1);
	must(other, head, sizeof head, 0);
	must(other, w->log.text + w->log.used, head[0], 0);
	w->log.used += head[0];
	return head[1];
}

// serve is machine b's part of a case.
static void serve(void)
{
	for (int line = 0; line != END;) {
		int head[2] = {0, 1};
		must(other, &line, sizeof line, 0);
		w->log.used = 0;
		if (line >= 0)
			head[1] = step(line, 1);
		rest();
		head[0] = w->log.used;
		must(other, head, sizeof head, 1);
		must(other, w->log.text, head[0], 1);
	}
	finish();
}

// show prints what came of a case, with ports named by when they were first seen.
static void show(const char *name)
{
	printf("case %s\n", name);
	for (size_t i = 0; i < w->log.used; i++) {
		char *c = &w->log.text[i];
		if (*c != 1) {
			putchar(*c);
			continue;
		}
		printf("p%d", number(1, atoi(c + 1)));
		while (w->log.text[i] != 2)
			i++;
	}
	printf("end\n");
	fflush(stdout);
}

static void one_case(const char *name, int index)
{
	int many = 0, two = 0, goes_on = 1;
	for (int i = 0; i < line_n; i++) {
		many |= atoi(lines[i]) != 0 || strstr(lines[i], " kill ") || strstr(lines[i], " exit") || strstr(lines[i], " &");
		two |= atoi(lines[i]) >= HERE;
	}
	if (machine && !two)
		return;
	begin(index);
	if (machine) {
		serve();
		return;
	}
	for (int i = 0; i < line_n && goes_on; i++) {
		goes_on = two && atoi(lines[i]) >= HERE ? ask(i) : step(i, many);
		if (two) {
			usleep(1000); // what was sent arrives
			rest();
			ask(LOOK);
		}
	}
	if (two)
		ask(END); // before what is still open here is closed
	finish();
	show(name);
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

// join makes a network namespace for machine b, and joins it to ours, that of machine a. Both go
// on in processes of their own, which wait for none but their own children.
static void join(void)
{
	int ready[2], made[2];
	char c, command[400];
	if (pipe(ready) < 0 || pipe(made) < 0)
		die("pipe");
	pid_t b = fork();
	if (b < 0)
		die("fork");
	if (!b) {
		machine = 1;
		if (unshare(CLONE_NEWNET) < 0 || write(ready[1], "", 1) != 1 || read(made[0], &c, 1) != 1)
			die("unshare");
		loopback();
	} else {
		snprintf(command, sizeof command, "ip link add eth0 type veth peer name eth0 netns %d", b);
		if (read(ready[0], &c, 1) != 1 || system(command) != 0)
			die("ip link");
	}
	pid_t a = machine ? 0 : fork();
	if (a) {
		int st;
		waitpid(a, &st, 0);
		_exit(WEXITSTATUS(st));
	}
	// Linux limits how many errors it reports in a second; Ariadne does not.
	snprintf(command, sizeof command, "echo 0 >/proc/sys/net/ipv4/icmp_ratelimit && echo 0 >/proc/sys/net/ipv6/icmp/ratelimit && "
		"ip addr add 10.0.0.%d/24 dev eth0 && ip addr add fd00::%d/64 dev eth0 nodad && ip link set eth0 up", machine + 1, machine + 1);
	if (system(command) != 0)
		die("ip addr");
	if (!machine && write(made[1], "", 1) != 1)
		die("pipe");
	syscall(SYS_close_range, 3, ~0U, 0);
}

// meet connects the two machines.
static void meet(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(0x0a000002)};
	int on = 1, s = socket(AF_INET, SOCK_STREAM, 0);
	if (machine) {
		if (bind(s, (void *)&a, sizeof a) < 0 || listen(s, 1) < 0 || (other = accept(s, NULL, NULL)) < 0)
			die("the other machine");
		close(s);
	} else {
		for (int tries = 0; connect(s, (void *)&a, sizeof a) < 0; tries++) {
			if (tries > 5000)
				die("the other machine");
			usleep(1000);
			close(s);
			s = socket(AF_INET, SOCK_STREAM, 0);
		}
		other = s;
	}
	setsockopt(other, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// share makes what the processes of this machine share. It survives their execve.
static void share(void)
{
	int fd = memfd_create("world", 0);
	if (fd < 0 || ftruncate(fd, sizeof *w) < 0 || dup2(fd, SHARED) < 0)
		die("memfd");
	close(fd);
	w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE, MAP_SHARED, SHARED, 0);
	if (w == MAP_FAILED)
		die("mmap");
}

// find_lines finds the lines of the case.
static void find_lines(void)
{
	line_n = 0;
	for (char *p = w->text; *p && line_n < LINES; p += strlen(p) + 1)
		lines[line_n++] = p;
}

// go_on is main of a process that has executed the interpreter again: interp again PROCESS LINE.
static void go_on(char **argv)
{
	w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE, MAP_SHARED, SHARED, 0);
	if (w == MAP_FAILED)
		die("mmap");
	me = atoi(argv[2]);
	now_line = atoi(argv[3]);
	memcpy(vars, w->kept.vars, sizeof vars);
	ports = w->kept.ports;
	for (int i = 0; i < PROCS; i++) // it is the only thread now, and has the id of the first
		if (i != me && w->group[i] == getpid())
			w->pid[i] = w->group[i] = 0;
	w->pid[me] = w->group[me] = getpid();
	w->executes = 0;
	find_lines();
	new_guard();
	to = &w->log;
	out(" done\n");
	did(now_line + 1);
	worker(now_line + 1);
}

int main(int argc, char **argv)
{
	static char name[100], *text;
	size_t size = 0;
	if (argc > 3)
		go_on(argv);
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL); // whatever we were started with
	FILE *f = argc > 1 ? fopen(argv[1], "re") : NULL, *m = open_memstream(&text, &size);
	if (!f || !m)
		die("open");
	int two = 0;
	char line[400];
	for (; fgets(line, sizeof line, f); fputs(line, m))
		two |= *line >= '0' + HERE && *line < '0' + PROCS;
	fclose(f); // the processes of the cases have nothing open but the standard descriptors
	fclose(m);
	syscall(SYS_close_range, 3, ~0U, 0);
	loopback();
	const char *role = argc > 2 ? argv[2] : "a";
	int native = !strcmp(role, "native");
	machine = !strcmp(role, "b");
	if (native && two)
		join();
	if (native)
		confine();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	share();
	if (two)
		meet();
	int index = 0;
	size_t used = 0;
	for (char *next, *line = text; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = 0;
		if (!strncmp(line, "case ", 5)) {
			snprintf(name, sizeof name, "%s", line + 5);
			memset(w, 0, offsetof(struct world, log.text));
			for (int i = 0; i < PROCS; i++)
				w->late[i].used = 0;
			used = 0;
		} else if (!strcmp(line, "end")) {
			find_lines();
			ports = 10000 + index % 2000 * 10; // no case meets what another left
			one_case(name, index++);
		} else if (*line && *line != '#' && used + strlen(line) + 2 < sizeof w->text) {
			strcpy(w->text + used, line);
			used += strlen(line) + 1;
		}
	}
	return 0;
}
