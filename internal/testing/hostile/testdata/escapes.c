// Ways out of a node that work on some machine or in some container. Each is tried in a
// child of its own, which may die of it.
#include "hostile.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <time.h>
#include <utime.h>

static time_t real; // the host's time
static pid_t host;  // a process of the host's

// near is 1 when a time is that of the host's.
static int near(time_t t) { return labs(t - real) < 86400; }

static void vsyscall(void)
{
	struct timeval tv = {0};
	long (*gettime)(struct timeval *, void *) = (void *)0xffffffffff600000;
	gettime(&tv, 0);
	TRY("vsyscall gettimeofday", near(tv.tv_sec));
}

static void vsyscall_time(void)
{
	long (*gettime)(time_t *) = (void *)0xffffffffff600400;
	TRY("vsyscall time", near(gettime(0)));
}

static long int80(long nr, long b, long c, long d)
{
	long r;
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(nr), "b"(b), "c"(c), "d"(d) : "memory", "r8", "r9", "r10", "r11");
	return r;
}

static void old_calls(void)
{
	// fork, write, getpid, time, gettimeofday and clock_gettime of a 32-bit program.
	static const int numbers[] = {1000, 20, 13, 78, 265, 403, 4, 2};
	for (size_t i = 1; i < sizeof numbers / sizeof *numbers; i++) {
		long r = int80(numbers[i], 1, 0, 0);
		if (r != -ENOSYS)
			printf("escaped: int 0x80, call %d: %ld\n", numbers[i], r);
	}
}

static void x32(void)
{
	for (long nr = 0; nr < 600; nr++) {
		long r = call6(nr | 0x40000000, -1, -1, -1, -1, -1, -1);
		if (r != -ENOSYS)
			printf("escaped: x32 call %ld: %ld\n", nr, r);
	}
}

// far_call runs code in a 32-bit segment: mov $20, %eax; int $0x80; lret. getpid has
// another number there. sysenter and syscall from there are other entries of Linux's.
static void far_call(const unsigned char *code, size_t n)
{
	unsigned char *low = mmap((void *)0x10000000, 0x2000, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (low == MAP_FAILED)
		return;
	memcpy(low, code, n);
	struct __attribute__((packed)) { uint32_t at; uint16_t segment; } to = {0x10000000, 0x23};
	long r;
	memcpy(low + 0x100, "\xff\x18\xc3", 3); // lcall *(%rax); ret: where 32 bits lead back to
	__asm__ volatile("mov %%rsp, %%r12\n mov $0x10001f00, %%rsp\n mov $0x10000100, %%ecx\n call *%%rcx\n mov %%r12, %%rsp"
		: "=a"(r) : "a"(&to) : "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc");
	if ((int)r != -ENOSYS)
		printf("escaped: far call: %d\n", (int)r);
}
static void far_int80(void) { far_call((const unsigned char *)"\xb8\x14\0\0\0\xcd\x80\xcb", 8); }
static void far_syscall(void) { far_call((const unsigned char *)"\xb8\x14\0\0\0\x0f\x05\xcb", 8); }
static void far_sysenter(void) { far_call((const unsigned char *)"\xb8\x14\0\0\0\x0f\x34\xcb", 8); }

static void numbers(void)
{
	char buf[4096] = {0};
	TRY("io_uring", syscall(425, 8, buf) >= 0);
	TRY("userfaultfd", syscall(SYS_userfaultfd, 0) >= 0);
	TRY("userfaultfd", syscall(SYS_userfaultfd, 1) >= 0);
	TRY("open_tree", syscall(428, AT_FDCWD, "/", 1) >= 0);
	TRY("move_mount", syscall(429, AT_FDCWD, "/tmp", AT_FDCWD, "/spec", 0) >= 0);
	TRY("fsopen", syscall(430, "tmpfs", 0) >= 0);
	TRY("fspick", syscall(433, AT_FDCWD, "/", 0) >= 0);
	unsigned long attr[4] = {0, 1};
	TRY("mount_setattr", syscall(442, AT_FDCWD, "/spec", 0, attr, 32) >= 0);
	TRY("mount_setattr /", syscall(442, AT_FDCWD, "/", 0x8000, attr, 32) >= 0);
	TRY("mount", mount("proc", "/tmp", "proc", 0, 0) == 0);
	TRY("remount", mount(0, "/spec", 0, MS_REMOUNT | MS_BIND, 0) == 0);
	TRY("umount", umount2("/spec", MNT_DETACH) == 0);
	TRY("pivot_root", syscall(SYS_pivot_root, "/tmp", "/tmp") == 0);
	TRY("unshare", unshare(CLONE_NEWUSER) == 0);
	TRY("unshare", unshare(CLONE_NEWNS) == 0);
	char *stack = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	TRY("clone", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) > 0);
	for (int fd = 0; fd < 10; fd++)
		TRY("setns", setns(fd, 0) == 0);
	int ns = open("/proc/1/ns/mnt", O_RDONLY);
	TRY("setns", ns >= 0 && setns(ns, 0) == 0);
	TRY("keyctl", syscall(SYS_keyctl, 0, -3, 1) >= 0);
	TRY("add_key", syscall(SYS_add_key, "user", "x", "y", 1, -3) >= 0);
	union bpf_attr b = {.map_type = 2, .key_size = 4, .value_size = 4, .max_entries = 1};
	TRY("bpf", syscall(SYS_bpf, 0, &b, sizeof b) >= 0);
	struct perf_event_attr p = {.type = 1, .size = sizeof p, .exclude_kernel = 1};
	TRY("perf_event_open", syscall(SYS_perf_event_open, &p, 0, -1, -1, 0) >= 0);
	TRY("TIOCSTI", ioctl(0, TIOCSTI, "x") == 0 || ioctl(1, TIOCSTI, "x") == 0);
	struct { unsigned n; int type; char h[128]; } handle = {.n = 128};
	int mid;
	TRY("name_to_handle_at", syscall(SYS_name_to_handle_at, AT_FDCWD, "/spec", &handle, &mid, 0) == 0);
	TRY("open_by_handle_at", syscall(SYS_open_by_handle_at, AT_FDCWD, &handle, 0) >= 0);
	TRY("kexec", syscall(SYS_kexec_load, 0, 0, 0, 0) == 0);
	TRY("init_module", syscall(SYS_init_module, buf, 10, "") == 0);
	TRY("syslog", syscall(SYS_syslog, 3, buf, sizeof buf) > 0);
	TRY("acct", syscall(SYS_acct, "/tmp/acct") == 0);
	TRY("swapon", syscall(SYS_swapon, "/tmp/x", 0) == 0);
	TRY("iopl", syscall(SYS_iopl, 3) == 0);
	TRY("ioperm", syscall(SYS_ioperm, 0x80, 1, 1) == 0);
	TRY("modify_ldt", syscall(SYS_modify_ldt, 1, buf, 16) == 0);
	TRY("quotactl", syscall(SYS_quotactl, 0x800001 << 8, 0, 0, 0) == 0);
	TRY("fanotify", syscall(SYS_fanotify_init, 0, 0) >= 0);
	TRY("seccomp listener", syscall(SYS_seccomp, 1, 8, buf) >= 0);
	TRY("pidfd_open", syscall(434, host, 0) >= 0);
	TRY("landlock", syscall(444, buf, 8, 0) >= 0);
	TRY("memfd_secret", syscall(447, 0) >= 0);
	TRY("personality", syscall(SYS_personality, 0x8) == 0 && int80(20, 0, 0, 0) != -ENOSYS);
}

static void others(void)
{
	char buf[16];
	struct iovec l = {buf, 8}, r = {(void *)0x400000, 8};
	for (pid_t pid = host - 20; pid <= host + 20; pid++) {
		TRY("process_vm_readv", syscall(SYS_process_vm_readv, pid, &l, 1, &r, 1, 0) > 0);
		TRY("ptrace", ptrace(PTRACE_ATTACH, pid, 0, 0) == 0);
		TRY("ptrace", ptrace(0x4206, pid, 0, 0) == 0);
		TRY("kill", kill(pid, 0) == 0);
		TRY("tgkill", syscall(SYS_tgkill, pid, pid, 0) == 0);
		TRY("rt_sigqueueinfo", syscall(SYS_rt_sigqueueinfo, pid, 0, buf) == 0);
		struct rlimit lim;
		TRY("prlimit", prlimit(pid, RLIMIT_NOFILE, 0, &lim) == 0);
		TRY("sched_getaffinity", syscall(SYS_sched_getaffinity, pid, sizeof buf, buf) >= 0);
		TRY("getpriority", (errno = 0, getpriority(PRIO_PROCESS, pid) != -1 || errno == 0));
		TRY("getpgid", getpgid(pid) >= 0);
		char name[64];
		static const char *const parts[] = {"root", "cwd", "mem", "environ", "fd", "maps", "ns/mnt"};
		for (int i = 0; i < 7; i++) {
			snprintf(name, sizeof name, "/proc/%d/%s", pid, parts[i]);
			int fd = open(name, O_RDONLY);
			if (fd >= 0)
				printf("escaped: %s\n", name);
		}
	}
	TRY("ptrace TRACEME", ptrace(PTRACE_TRACEME, 0, 0, 0) == 0);
	process_vm_readv(getppid(), &l, 1, &r, 1, 0);
	signal(SIGTERM, SIG_IGN);
	kill(-1, SIGTERM); // whoever is hit outside of the node ends
	kill(-host, SIGKILL);
	kill(host, SIGKILL);
	syscall(SYS_tkill, host, SIGKILL);
}

static void writes(const char *how)
{
	int fd = open(how, O_WRONLY | O_APPEND);
	if (fd >= 0 && write(fd, "x", 1) == 1)
		printf("escaped: write to %s\n", how);
	close(fd);
	fd = open(how, O_RDONLY);
	char name[64];
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	int again = open(name, O_RDWR);
	if (again >= 0 && write(again, "x", 1) == 1)
		printf("escaped: reopened %s\n", how);
	void *m = mmap(0, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	TRY("mapping", m != MAP_FAILED);
	m = mmap(0, 1, PROT_READ, MAP_SHARED, fd, 0);
	TRY("mprotect", m != MAP_FAILED && mprotect(m, 1, PROT_READ | PROT_WRITE) == 0);
	TRY("ftruncate", ftruncate(again, 0) == 0 || ftruncate(fd, 0) == 0);
	TRY("truncate", truncate(how, 0) == 0);
	TRY("fchmod", fchmod(fd, 0777) == 0);
	TRY("utimensat", syscall(SYS_utimensat, fd, 0, 0, 0) == 0);
	TRY("setxattr", setxattr(how, "user.x", "y", 1, 0) == 0 || fsetxattr(fd, "user.x", "y", 1, 0) == 0);
	TRY("FS_IOC_SETFLAGS", ioctl(fd, 0x40086602, (int[]){0x10, 0}) == 0);
	TRY("fallocate", syscall(SYS_fallocate, again, 0, 0, 100) == 0);
	close(fd), close(again);
}

static void files(void)
{
	writes("/spec/canary");
	TRY("create", open("/spec/escaped", O_CREAT | O_RDWR, 0644) >= 0);
	TRY("tmpfile", open("/spec", O_TMPFILE | O_RDWR, 0600) >= 0);
	TRY("mkdir", mkdir("/spec/escaped", 0700) == 0);
	TRY("symlink", symlink("/", "/spec/escaped") == 0);
	TRY("unlink", unlink("/spec/canary") == 0);
	TRY("chmod", chmod("/spec/canary", 0777) == 0);
	TRY("chmod", chmod("/spec", 0777) == 0);
	close(creat("/tmp/mine", 0600));
	TRY("link", link("/tmp/mine", "/spec/escaped") == 0);
	TRY("rename", rename("/tmp/mine", "/spec/canary") == 0 || rename("/spec/canary", "/tmp/theirs") == 0);
	TRY("exchange", syscall(SYS_renameat2, AT_FDCWD, "/tmp/mine", AT_FDCWD, "/spec/canary", 2) == 0);
	if (link("/spec/canary", "/tmp/linked") == 0)
		writes("/tmp/linked");
	symlink("/spec/canary", "/tmp/symlink");
	writes("/tmp/symlink");
	symlink("/proc/self/root/spec/canary", "/tmp/symlink2");
	writes("/tmp/symlink2");
	writes("/proc/self/root/spec/canary");
	writes("/proc/self/cwd/../spec/canary");
	writes("/proc/thread-self/root/spec/canary");
	writes("/proc/1/root/spec/canary");
	writes("/proc/1/cwd/../spec/canary");
	int dir = open("/spec", O_PATH | O_DIRECTORY);
	int fd = openat(dir, "canary", O_RDWR);
	TRY("openat", fd >= 0);
	fd = openat(dir, "canary", O_PATH);
	char name[64];
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	writes(name);
	TRY("fchmodat", syscall(452, fd, "", 0777, AT_EMPTY_PATH) == 0);
	TRY("fchownat", syscall(SYS_fchownat, fd, "", 12345, 12345, AT_EMPTY_PATH) == 0 && getuid() == 0 && ({ struct stat st; stat("/spec/canary", &st); 0; }));
	struct open_how { uint64_t flags, mode, resolve; } how = {O_RDWR};
	TRY("openat2", syscall(437, AT_FDCWD, "/spec/canary", &how, sizeof how) >= 0);
	mkdir("/tmp/..x", 0700);
	for (int i = 0; i < 40; i++)
		chdir("..");
	struct stat a, b;
	TRY("..", stat(".", &a) == 0 && stat("/", &b) == 0 && a.st_ino != b.st_ino);
	TRY("hidden", access("/.ariadne/tree", F_OK) == 0);
	DIR *d = opendir("/.ariadne");
	for (struct dirent *e; d && (e = readdir(d));)
		if (e->d_name[0] != '.')
			printf("escaped: /.ariadne/%s\n", e->d_name);
	// A program that is memory.
	int mem = memfd_create("x", 0);
	int self = open("/proc/self/exe", O_RDONLY);
	char buf[65536];
	for (ssize_t n; (n = read(self, buf, sizeof buf)) > 0;)
		write(mem, buf, n);
	fflush(stdout);
	if (fork() == 0) {
		char *argv[] = {"escapes", "0", "inner", 0}, *env[] = {0};
		syscall(SYS_execveat, mem, "", argv, env, AT_EMPTY_PATH);
		_exit(0);
	}
	wait(0);
}

static void out_of_chroot(void)
{
	mkdir("/tmp/jail", 0755), mkdir("/tmp/jail/inner", 0755);
	int fd = open("/", O_RDONLY | O_DIRECTORY), pair[2];
	struct stat top, st;
	stat("/", &top);
	if (chroot("/tmp/jail") != 0)
		return;
	chdir("/");
	TRY("seen from inside", access("/spec/canary", F_OK) == 0);
	// As on Linux root climbs out again, to the node's own root.
	chroot("inner");
	fchdir(fd);
	for (int i = 0; i < 100; i++)
		chdir("..");
	TRY("above the node's root", stat(".", &st) == 0 && (st.st_ino != top.st_ino || st.st_dev != top.st_dev));
	chroot(".");
	writes("/spec/canary");
	TRY("create", open("/spec/escaped", O_CREAT | O_RDWR, 0644) >= 0);
	TRY("above", access("/.ariadne/tree", F_OK) == 0);
	for (pid_t p = host - 3; p < host + 3; p++) {
		char name[64];
		snprintf(name, sizeof name, "/proc/%d/root", p);
		TRY("root of the host's", access(name, F_OK) == 0);
	}
}

// Another directory each time that somebody looks.
static volatile int over;
static char shared[64];
static void *swapper(void *p)
{
	while (!over) {
		strcpy(shared, "/spec/canary");
		strcpy(shared, "/tmp/raced");
		unlink("/tmp/link"), symlink("/spec", "/tmp/link");
		unlink("/tmp/link"), symlink("/tmp", "/tmp/link");
	}
	return 0;
}
#include <pthread.h>
static void races(void)
{
	pthread_t t;
	pthread_create(&t, 0, swapper, 0);
	strcpy(shared, "/tmp/raced");
	for (int i = 0; i < 300; i++) {
		int fd = open(shared, O_CREAT | O_RDWR, 0600);
		struct stat a, b;
		TRY("raced", fd >= 0 && fstat(fd, &a) == 0 && stat("/spec/canary", &b) == 0 && a.st_ino == b.st_ino && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY);
		close(fd);
		fd = open("/tmp/link/raced", O_CREAT | O_RDWR, 0600);
		close(fd);
		if (i % 100 == 0)
			usleep(10);
	}
	TRY("raced file", access("/spec/raced", F_OK) == 0);
	over = 1;
	pthread_join(t, 0);
}

static void devices(void)
{
	static const struct { const char *name; mode_t kind; int major, minor; } nodes[] = {
		{"/tmp/kmsg", S_IFCHR, 1, 11}, {"/tmp/mem", S_IFCHR, 1, 1}, {"/tmp/vda", S_IFBLK, 253, 0}, {"/tmp/loop", S_IFBLK, 7, 0}, {"/tmp/tty", S_IFCHR, 5, 0}, {"/dev/kmsg2", S_IFCHR, 1, 11},
	};
	for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
		mknod(nodes[i].name, nodes[i].kind | 0600, makedev(nodes[i].major, nodes[i].minor));
		TRY(nodes[i].name, open(nodes[i].name, O_RDWR | O_NONBLOCK) >= 0);
	}
	// Those of the host that lie in a directory that the node is shown.
	static const char *const theirs[] = {"/spec/kmsg", "/spec/loop", "/spec/sub/kmsg", "/dev/kmsg", "/dev/mem", "/dev/fuse", "/dev/loop0", "/dev/kvm", "/dev/tty", "/dev/ptmx.host"};
	for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
		TRY(theirs[i], open(theirs[i], O_RDONLY | O_NONBLOCK) >= 0 || open(theirs[i], O_WRONLY | O_NONBLOCK) >= 0);
	int null = open("/spec/null", O_WRONLY); // the same device as the node's, and another file
	TRY("/spec/null", null >= 0);
	// A named pipe of the host's is one of the node's: others there see nothing of it.
	write(open("/spec/fifo", O_WRONLY | O_NONBLOCK), "escaped", 7);
	write(open("/spec/fifo", O_RDWR | O_NONBLOCK), "escaped", 7);
	open("/spec/fifo", O_RDONLY | O_NONBLOCK);
	for (int type = SOCK_STREAM; type <= SOCK_DGRAM; type++) {
		struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "/spec/socket"};
		TRY("socket", connect(socket(AF_UNIX, type, 0), (void *)&a, sizeof a) == 0);
		struct sockaddr_un abstract = {.sun_family = AF_UNIX, };
		int n = snprintf(abstract.sun_path + 1, 64, "ariadne-%d", host);
		TRY("abstract socket", connect(socket(AF_UNIX, type, 0), (void *)&abstract, 3 + n) == 0);
	}
	int v = socket(40, SOCK_STREAM, 0); // vsock
	TRY("vsock", v >= 0);
	TRY("packet", socket(AF_PACKET, SOCK_RAW, 0) >= 0);
	TRY("alg", socket(38, SOCK_SEQPACKET, 0) >= 0);
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(22), .sin_addr.s_addr = htonl(0x7f000001)};
	TRY("TCP", connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&in, sizeof in) == 0);
	// The host's /proc, mounted below.
	char name[64];
	snprintf(name, sizeof name, "/spec/proc/%d/root", host);
	TRY("/spec/proc", open("/spec/proc/self/status", O_RDONLY) >= 0 || open("/spec/proc/uptime", O_RDONLY) >= 0 || open(name, O_RDONLY) >= 0);
	TRY("/spec/sysfs", open("/spec/sysfs/kernel", O_RDONLY) >= 0);
}

static void clocks(void)
{
	struct timespec ts = {0};
	struct timeval tv = {0};
	struct timex tx = {0};
	struct stat st;
	for (int c = -20; c < 20; c++) {
		ts.tv_sec = 0;
		clock_gettime(c, &ts);
		TRY("clock_gettime", near(ts.tv_sec));
		ts.tv_sec = 0;
		call6(SYS_clock_gettime, c, (long)&ts, 0, 0, 0, 0);
		TRY("clock_gettime", near(ts.tv_sec));
	}
	TRY("time", near(call6(SYS_time, 0, 0, 0, 0, 0, 0)));
	call6(SYS_gettimeofday, (long)&tv, 0, 0, 0, 0, 0);
	TRY("gettimeofday", near(tv.tv_sec));
	adjtimex(&tx);
	TRY("adjtimex", near(tx.time.tv_sec));
	memset(&tx, 0, sizeof tx);
	clock_adjtime(CLOCK_REALTIME, &tx);
	TRY("clock_adjtime", near(tx.time.tv_sec));
	FILE *f = fopen("/spec/uptime", "r"); // of the host, written by the test
	double theirs = 0, mine = 0;
	if (f)
		fscanf(f, "%lf", &theirs), fclose(f);
	if ((f = fopen("/proc/uptime", "r")))
		fscanf(f, "%lf", &mine), fclose(f);
	struct sysinfo si = {0};
	sysinfo(&si);
	TRY("/proc/uptime", theirs && labs((long)(mine - theirs)) < 120);
	TRY("sysinfo", theirs && labs((long)(si.uptime - theirs)) < 120);
	struct tms tms;
	TRY("times", theirs && labs(times(&tms) / 100 - (long)theirs) < 120);
	clock_gettime(CLOCK_BOOTTIME, &ts);
	TRY("CLOCK_BOOTTIME", theirs && labs(ts.tv_sec - (long)theirs) < 120);
	int fd = creat("/tmp/new", 0600);
	write(fd, "x", 1);
	fstat(fd, &st);
	TRY("new file", near(st.st_mtime) || near(st.st_ctime) || near(st.st_atime));
	struct statx sx = {0};
	statx(AT_FDCWD, "/tmp/new", 0, 0xfff, &sx);
	TRY("statx", near(sx.stx_btime.tv_sec) || near(sx.stx_mtime.tv_sec) || near(sx.stx_ctime.tv_sec) || near(sx.stx_atime.tv_sec));
	static const char *const names[] = {"/tmp", "/spec", "/spec/canary", "/proc", "/proc/self", "/proc/self/stat", "/dev/null", "/dev/zero", "/sys", "/dev", "/", "/proc/self/fd/0", "/proc/self/exe", "/dev/shm", "/run"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		memset(&sx, 0, sizeof sx), memset(&st, 0, sizeof st);
		statx(AT_FDCWD, names[i], 0, 0xfff, &sx);
		stat(names[i], &st);
		if (near(sx.stx_btime.tv_sec) || near(sx.stx_mtime.tv_sec) || near(sx.stx_ctime.tv_sec) || near(sx.stx_atime.tv_sec) || near(st.st_mtime) || near(st.st_ctime))
			printf("escaped: times of %s\n", names[i]);
	}
	for (int i = 0; i < 5; i++) {
		int p[2];
		if (i == 0) pipe(p), fd = p[0];
		if (i == 1) fd = memfd_create("x", 0);
		if (i == 2) fd = socket(AF_UNIX, SOCK_STREAM, 0);
		if (i == 3) fd = timerfd_create(CLOCK_REALTIME, 0);
		if (i == 4) fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
		memset(&st, 0, sizeof st);
		fstat(fd, &st);
		if (near(st.st_mtime) || near(st.st_ctime) || near(st.st_atime))
			printf("escaped: time of file kind %d\n", i);
	}
	utime("/tmp/new", 0);
	stat("/tmp/new", &st);
	TRY("utime", near(st.st_mtime) || near(st.st_ctime));
	static const char *const procs[] = {"/proc/stat", "/proc/driver/rtc", "/proc/self/sched", "/proc/timer_list", "/proc/self/schedstat", "/sys/class/rtc/rtc0/since_epoch"};
	for (size_t i = 0; i < sizeof procs / sizeof *procs; i++) {
		char text[65536] = {0}, *at;
		int fd = open(procs[i], O_RDONLY);
		read(fd, text, sizeof text - 1);
		if ((at = strstr(text, "btime ")) && labs(atol(at + 6) - (real - (long)theirs)) < 3600)
			printf("escaped: %s\n", procs[i]);
		close(fd);
	}
}

static void counter_pmc(void)
{
	unsigned lo, hi;
	__asm__ volatile("rdpmc" : "=a"(lo), "=d"(hi) : "c"(0));
	escaped("rdpmc");
}

static void counter_tsc(void)
{
	// The virtual one goes by nanoseconds of the node's clock.
	unsigned lo, hi, aux;
	__asm__ volatile("rdtscp" : "=a"(lo), "=d"(hi), "=c"(aux));
	unsigned long a = (unsigned long)hi << 32 | lo;
	for (volatile long i = 0; i < 30000000; i++)
		;
	__asm__ volatile("rdtscp" : "=a"(lo), "=d"(hi), "=c"(aux));
	unsigned long b = (unsigned long)hi << 32 | lo;
	TRY("rdtscp", b - a > 5000000 || b < a);
}

// What has been opened up for all nodes must stay as it is.
static void device_modes(void)
{
	static const char *const names[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};
	struct timespec ts[2] = {{1}, {1}};
	for (int i = 0; i < 5; i++) {
		const char *n = names[i];
		chmod(n, 0), chown(n, 1, 1), lchown(n, 1, 1), utimensat(AT_FDCWD, n, ts, 0);
		int fds[] = {open(n, O_RDONLY), open(n, O_RDWR), open(n, O_PATH), openat(open("/dev", O_PATH), n + 5, O_PATH | O_NOFOLLOW)};
		for (int j = 0; j < 4; j++) {
			char path[64];
			snprintf(path, sizeof path, "/proc/self/fd/%d", fds[j]);
			fchmod(fds[j], 0), fchown(fds[j], 1, 1), futimens(fds[j], ts), syscall(SYS_utimensat, fds[j], 0, ts, 0);
			chmod(path, 0), chown(path, 1, 1), utimensat(AT_FDCWD, path, ts, 0), truncate(path, 0);
			syscall(SYS_fchownat, fds[j], "", 1, 1, AT_EMPTY_PATH);
			syscall(452, fds[j], "", 0, AT_EMPTY_PATH), syscall(452, AT_FDCWD, n, 0, AT_SYMLINK_NOFOLLOW);
			syscall(SYS_fchmodat, AT_FDCWD, path, 0), syscall(SYS_utimensat, fds[j], "", ts, AT_EMPTY_PATH);
			fsetxattr(fds[j], "user.a", "b", 1, 0), setxattr(path, "trusted.a", "b", 1, 0), setxattr(path, "security.a", "b", 1, 0);
			ioctl(fds[j], 0x40086602, (int[]){0x10, 0});
			char acl[28] = {2, 0, 0, 0, 1, 0, 0};
			setxattr(path, "system.posix_acl_access", acl, 28, 0);
			link(path, "/tmp/device"), unlink(path), linkat(fds[j], "", AT_FDCWD, "/tmp/device2", AT_EMPTY_PATH);
			chmod("/tmp/device", 0), chmod("/tmp/device2", 0);
		}
		unlink(n), rename(n, "/tmp/moved"), rename("/tmp/new", n);
		symlink(n, "/tmp/to"), chmod("/tmp/to", 0), chown("/tmp/to", 1, 1), unlink("/tmp/to");
		bind(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&(struct sockaddr_un){AF_UNIX, "/dev/null"}, 12);
	}
	chmod("/dev", 0), chmod("/spec", 0), chown("/spec", 1, 1), chmod("/usr", 0), chown("/etc/passwd", 1, 1), chmod("/etc/passwd", 0);
}

#define ALL(x) \
	x(vsyscall) x(vsyscall_time) x(old_calls) x(x32) x(far_int80) x(far_syscall) x(far_sysenter) x(numbers) x(files) \
	x(out_of_chroot) x(races) x(devices) x(clocks) x(counter_pmc) x(counter_tsc) x(device_modes) x(others)

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[2], "inner")) {
		writes("/spec/canary");
		return 0;
	}
	real = atol(argv[1]), host = atol(argv[2]);
#define CASE(f) \
	if (argc < 4 || !strcmp(argv[3], #f)) \
		printf("%s: %d\n", #f, in_child(f));
	signal(SIGTERM, SIG_IGN); // see others
	ALL(CASE)
	puts("done");
}
