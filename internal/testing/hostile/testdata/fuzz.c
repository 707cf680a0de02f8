// System calls at random: fuzz TIME SEED CALLS [FIRST LAST]. All numbers from FIRST to
// LAST, or those that are well formed by a table. Children make them, some thousand each,
// so that one may break its own process. The seed decides everything.
#include "hostile.h"
#include <linux/futex.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>

static uint64_t state;

static uint64_t rnd(void)
{
	state += 0x9e3779b97f4a7c15;
	uint64_t z = state;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}
static uint64_t below(uint64_t n) { return rnd() % n; }

static char *arena; // readable and writable; then a page that is not there
enum { ARENA = 1 << 16 };
static char *readonly;
static int fds[64], nfds;
static pid_t parent;

static uint64_t number(void)
{
	static const uint64_t odd[] = {0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 24, 31, 32, 33, 63, 64, 65, 127, 128, 200, 255, 256, 511, 512, 1000, 1023,
		1024, 4095, 4096, 4097, 65535, 65536, 1 << 20, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7ffffffffffff000,
		0x7fffffffffffffff, 0x8000000000000000, -1ul, -2ul, -100ul, -4095ul, -4096ul, 0x7fffffff000ul};
	switch (below(8)) {
	case 0: return rnd();
	case 1: return 1ul << below(64);
	case 2: return below(64);
	case 3: return rnd() & rnd() & rnd();
	case 4: return (uint64_t)(int)rnd();
	default: return odd[below(sizeof odd / sizeof *odd)];
	}
}

static const char *const paths[] = {"/tmp/a", "/tmp/b", "/tmp/d", "/tmp/d/x", "/tmp/link", "/tmp/fifo", "/tmp", "/", "", ".", "..", "../..", "/node/f",
	"/spec/fuzz", "/spec/spec.yaml", "/spec", "/spec/new", "/proc/self/maps", "/proc/self/fd", "/proc/self/fd/3", "/proc/self/exe", "/proc/self/mem",
	"/proc/self", "/proc/1/status", "/proc/self/cwd/x", "/proc/self/root", "/proc/self/ns/mnt", "/proc", "/proc/uptime", "/proc/net/tcp", "/sys",
	"/proc/self/task", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/fd/1", "/dev/stdin", "/dev/shm/a", "/dev/tty", "/dev/ptmx", "/etc/passwd",
	"/.ariadne", "/.ariadne/area", "/.ariadne/tree", "/bin/true", "/bin", "/nonexistent/x", "/tmp/sock", "a/b/c/d", "//tmp//a", "/tmp/a/"};

static uint64_t path(void)
{
	char *p = arena + below(ARENA - 8192);
	if (below(40) == 0) {
		memset(p, below(2) ? 'a' : '/', 5000);
		p[4000 + below(1000)] = 0;
	} else {
		strcpy(p, paths[below(sizeof paths / sizeof *paths)]);
	}
	return (uint64_t)p;
}

static uint64_t fd(void)
{
	switch (below(8)) {
	case 0: return below(12);
	case 1: return number();
	case 2: return AT_FDCWD;
	default: return fds[below(nfds)];
	}
}

// pointer is one into the arena, whose content is anything.
static uint64_t pointer(void)
{
	switch (below(20)) {
	case 0: return 0;
	case 1: return number();
	case 2: return (uint64_t)arena + ARENA - below(64);   // ends where nothing is
	case 3: return (uint64_t)readonly + below(4096);
	case 4: return 0x7ffffa000000 + below(0x8000);        // Ariadne's pages
	case 5: return 0xffffffffff600000 + below(4096);
	case 6: return 0xffff888000000000 + below(4096);
	default: return (uint64_t)arena + (below(ARENA - 256) & (below(2) ? -8ul : -1ul));
	}
}

static uint64_t words(int n, uint64_t (*f)(void))
{
	uint64_t *p = (uint64_t *)(arena + (below(ARENA - 4096) & -8ul));
	for (int i = 0; i < n; i++)
		p[i] = f();
	return (uint64_t)p;
}

static uint64_t any(void);
static uint64_t vectors(void)
{
	uint64_t *p = (uint64_t *)(arena + (below(ARENA - 4096) & -8ul));
	for (int i = 0; i < 8; i++)
		p[2 * i] = pointer(), p[2 * i + 1] = below(4) ? below(5000) : number();
	return (uint64_t)p;
}

static uint64_t address(void)
{
	struct sockaddr_in a = {.sin_family = below(5) ? AF_INET : (int)below(20), .sin_port = htons(below(4) ? 7000 + below(4) : rnd()),
		.sin_addr.s_addr = htonl(below(3) ? 0x7f000001 : below(2) ? 0 : 0x0a000001)};
	char *p = arena + (below(ARENA - 256) & -8ul);
	if (below(4)) {
		memcpy(p, &a, sizeof a);
	} else {
		struct sockaddr_un u = {.sun_family = AF_UNIX};
		strcpy(u.sun_path + below(2), "/tmp/sock");
		memcpy(p, &u, sizeof u);
	}
	return (uint64_t)p;
}

static uint64_t duration(void)
{
	uint64_t *p = (uint64_t *)(arena + (below(ARENA - 256) & -8ul));
	for (int i = 0; i < 4; i += 2)
		p[i] = below(8) ? 0 : number(), p[i + 1] = below(4) ? below(1000000) : number();
	return (uint64_t)p;
}

static uint64_t message(void)
{
	struct msghdr m = {.msg_name = (void *)(below(2) ? 0 : address()), .msg_namelen = below(2) ? 16 : number(), .msg_iov = (void *)vectors(),
		.msg_iovlen = below(8) ? below(4) : number(), .msg_control = (void *)pointer(), .msg_controllen = below(2) ? 0 : below(2) ? below(200) : number()};
	char *p = arena + (below(ARENA - 256) & -8ul);
	memcpy(p, &m, sizeof m);
	return (uint64_t)p;
}

static pid_t id(void)
{
	switch (below(6)) {
	case 0: return number();
	case 1: return below(100);
	case 2: return 0;
	default: return getpid();
	}
}

static uint64_t small(void) { return below(8) ? below(8) : number(); }
static uint64_t size(void) { return below(6) ? below(6000) : number(); }
static uint64_t sig(void) { return below(8) ? below(66) : number(); }

static uint64_t any(void)
{
	switch (below(10)) {
	case 0: return fd();
	case 1: return path();
	case 2: return pointer();
	case 3: return vectors();
	case 4: return address();
	case 5: return duration();
	case 6: return message();
	case 7: return words(16, number);
	case 8: return small();
	default: return number();
	}
}

static uint64_t argument(char kind)
{
	switch (kind) {
	case 'f': return fd();
	case 's': return path();
	case 'p': return pointer();
	case 'v': return vectors();
	case 'a': return address();
	case 't': return duration();
	case 'm': return message();
	case 'w': return words(32, below(2) ? number : small);
	case 'n': return size();
	case 'k': return small();
	case 'g': return sig();
	case 'i': return id();
	case 'x': return number();
	}
	return 0;
}

// Well-formed calls: the number, and the kinds of its arguments.
static const struct { int nr; const char *args; } table[] = {
	{0, "fpn"}, {1, "fpn"}, {2, "sxx"}, {4, "sp"}, {5, "fp"}, {6, "sp"}, {7, "wkk"}, {8, "fxk"}, {9, "xnkxfx"}, {10, "pnk"}, {11, "pn"}, {13, "gwwk"},
	{14, "kwwk"}, {16, "fxp"}, {17, "fpnn"}, {18, "fpnn"}, {19, "fvk"}, {20, "fvk"}, {21, "sk"}, {22, "p"}, {23, "kwwwt"}, {25, "pnnkp"}, {27, "pnp"},
	{28, "pnk"}, {29, "knx"}, {30, "kpx"}, {31, "kkp"}, {32, "f"}, {33, "ff"}, {35, "tp"}, {36, "kp"}, {37, "k"}, {38, "ktp"}, {40, "ffpn"}, {41, "kkk"},
	{42, "fan"}, {43, "fpp"}, {44, "fpnxan"}, {45, "fpnxpp"}, {46, "fmx"}, {47, "fmx"}, {48, "fk"}, {49, "fan"}, {50, "fk"}, {51, "fpp"}, {52, "fpp"},
	{53, "kkkp"}, {54, "fkkwn"}, {55, "fkkpp"}, {56, "xppp"}, {59, "sww"}, {61, "ipkp"}, {62, "ig"}, {64, "kkx"}, {65, "kwk"}, {66, "kkkp"}, {67, "p"},
	{68, "kx"}, {69, "kpnx"}, {70, "kpnkx"}, {71, "kkp"}, {72, "fkx"}, {72, "fkp"}, {73, "fk"}, {76, "sx"}, {77, "fn"}, {78, "fpn"}, {79, "pn"}, {80, "s"},
	{81, "f"}, {82, "ss"}, {83, "sx"}, {84, "s"}, {85, "sx"}, {86, "ss"}, {87, "s"}, {88, "ss"}, {89, "spn"}, {90, "sx"}, {92, "skk"}, {95, "x"},
	{97, "kp"}, {98, "kp"}, {99, "p"}, {100, "p"}, {105, "k"}, {109, "ii"}, {113, "kk"}, {115, "kp"}, {116, "kp"}, {117, "kkk"}, {121, "i"}, {124, "i"},
	{125, "pp"}, {126, "pw"}, {127, "pk"}, {128, "wptk"}, {129, "igw"}, {130, "wk"}, {131, "pp"}, {132, "sp"}, {133, "sxx"}, {135, "x"}, {137, "sp"},
	{140, "kik"}, {141, "kik"}, {142, "ip"}, {143, "ip"}, {144, "ikp"}, {157, "kxxxx"}, {158, "xp"}, {159, "p"}, {160, "kw"}, {161, "s"}, {186, ""},
	{187, "fxn"}, {188, "sspnk"}, {200, "ig"}, {202, "wkkpwk"}, {203, "inp"}, {204, "inp"}, {206, "kp"}, {207, "p"}, {208, "xkkpt"}, {209, "xkw"},
	{213, "k"}, {217, "fpn"}, {218, "p"}, {220, "kwkt"}, {221, "fnnk"}, {222, "kwp"}, {223, "kktp"}, {224, "kp"}, {225, "k"}, {226, "k"}, {227, "kp"},
	{228, "kp"}, {229, "kp"}, {230, "kktp"}, {232, "fpkk"}, {233, "fkfw"}, {234, "iig"}, {235, "st"}, {240, "skkp"}, {247, "kipkp"}, {251, "ki"},
	{252, "kik"}, {257, "fsxx"}, {258, "fsx"}, {259, "fsxx"}, {260, "fskkx"}, {261, "fst"}, {262, "fspx"}, {263, "fsx"}, {264, "fsfs"}, {265, "fsfsx"},
	{266, "sfs"}, {267, "fspn"}, {268, "fsx"}, {269, "fsk"}, {270, "kwwwtp"}, {271, "wktpk"}, {273, "pn"}, {274, "ipp"}, {275, "fpfpnx"}, {276, "ffnx"},
	{277, "fnnx"}, {278, "fvkx"}, {280, "fstx"}, {281, "fpkkpk"}, {282, "fpk"}, {283, "kx"}, {284, "kx"}, {285, "fxnn"}, {286, "fktp"}, {287, "fp"},
	{288, "fppx"}, {289, "fpkx"}, {290, "kx"}, {291, "x"}, {292, "ffx"}, {293, "px"}, {295, "fvkn"}, {296, "fvkn"}, {297, "igw"}, {298, "pikkk"},
	{299, "fmkxt"}, {302, "ikpp"}, {303, "fspp"}, {305, "kp"}, {306, "f"}, {307, "fmkx"}, {309, "ppp"}, {310, "ivkvkk"}, {311, "ivkvkk"}, {312, "iikff"},
	{314, "ipk"}, {315, "ipnk"}, {316, "fsfsx"}, {317, "kkp"}, {318, "pnk"}, {319, "sx"}, {322, "fswwx"}, {324, "kkk"}, {325, "pnk"}, {326, "fpfpnk"},
	{327, "fvknkx"}, {328, "fvknkx"}, {329, "pnkx"}, {332, "fsxxp"}, {334, "pnkk"}, {424, "fgwk"}, {434, "ik"}, {435, "wn"}, {436, "ffx"}, {437, "fswn"},
	{438, "ffk"}, {439, "fsxx"}, {441, "fpktpn"}, {452, "fsxx"},
};

// keeps are calls that would end the fuzzing itself.
static int keeps(long nr, uint64_t *a)
{
	switch (nr) {
	case SYS_kill: case SYS_tkill: case SYS_rt_sigqueueinfo: case SYS_tgkill: case SYS_rt_tgsigqueueinfo: case SYS_pidfd_send_signal:
		return (int)a[0] == parent || (int)a[1] == parent || (int)a[0] <= 0;
	case SYS_exit: case SYS_exit_group: case SYS_rt_sigreturn:
		return below(100) != 0;
	case SYS_munmap: case SYS_mremap: case SYS_mprotect: case SYS_brk: case SYS_madvise: case SYS_pkey_mprotect:
		return below(10) != 0;
	case SYS_setrlimit: case SYS_prlimit64:
		return below(20) != 0;
	}
	return 0;
}

static void one(long first, long last)
{
	uint64_t a[6];
	long nr;
	if (first < 0 || (last > 400 && below(3))) {
		int i = below(sizeof table / sizeof *table);
		nr = table[i].nr;
		for (int j = 0; j < 6; j++)
			a[j] = j < strlen(table[i].args) ? argument(table[i].args[j]) : number();
	} else {
		nr = first + below(last - first + 1);
		for (int j = 0; j < 6; j++)
			a[j] = any();
	}
	if (keeps(nr, a))
		return;
	if (getenv("FUZZ_SHOW"))
		fprintf(stderr, "%ld(%#lx, %#lx, %#lx, %#lx, %#lx, %#lx)\n", nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	long r = call6(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (r == 0 && (nr == SYS_fork || nr == SYS_vfork || nr == SYS_clone || nr == SYS_clone3))
		call6(below(2) ? SYS_exit_group : SYS_exit, 0, 0, 0, 0, 0, 0);
	if (r > 2 && r < 1000 && (nr == SYS_open || nr == SYS_openat || nr == SYS_socket || nr == SYS_accept || nr == SYS_dup))
		fds[below(nfds)] = r;
}

static void batch(long calls, long first, long last)
{
	struct rlimit space = {1 << 30, 1 << 30}, file = {1 << 20, 1 << 20};
	setrlimit(RLIMIT_AS, &space);
	setrlimit(RLIMIT_FSIZE, &file);
	if (below(2))
		signal(SIGXFSZ, SIG_IGN);
	int p[2];
	nfds = 0;
	for (int i = 0; i < 3; i++)
		fds[nfds++] = i;
	fds[nfds++] = open("/tmp/a", O_CREAT | O_RDWR, 0666);
	fds[nfds++] = open("/spec/spec.yaml", O_RDONLY);
	fds[nfds++] = open("/tmp", O_RDONLY | O_DIRECTORY);
	fds[nfds++] = open("/proc/self/status", O_RDONLY);
	fds[nfds++] = open("/tmp", O_PATH);
	fds[nfds++] = open("/dev/zero", O_RDWR);
	fds[nfds++] = socket(AF_INET, SOCK_STREAM, 0);
	fds[nfds++] = socket(AF_INET, SOCK_DGRAM, 0);
	fds[nfds++] = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0);
	fds[nfds++] = socket(AF_NETLINK, SOCK_RAW, 0);
	fds[nfds++] = epoll_create1(0);
	fds[nfds++] = eventfd(3, EFD_NONBLOCK);
	fds[nfds++] = timerfd_create(CLOCK_MONOTONIC, 0);
	fds[nfds++] = memfd_create("m", MFD_ALLOW_SEALING);
	sigset_t set;
	sigfillset(&set);
	fds[nfds++] = signalfd(-1, &set, SFD_NONBLOCK);
	if (pipe2(p, O_NONBLOCK) == 0)
		fds[nfds++] = p[0], fds[nfds++] = p[1];
	if (socketpair(AF_UNIX, below(2) ? SOCK_STREAM : SOCK_SEQPACKET, 0, p) == 0)
		fds[nfds++] = p[0], fds[nfds++] = p[1];
	for (int i = 0; i < ARENA / 8; i++)
		((uint64_t *)arena)[i] = below(2) ? 0 : number();
	for (long i = 0; i < calls; i++)
		one(first, last);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 0; // executed by itself
	long calls = atol(argv[3]), each = 1000, first = -1, last = -1;
	state = atol(argv[2]) * 1000003;
	if (argc > 5)
		first = atol(argv[4]), last = atol(argv[5]);
	parent = getpid();
	arena = mmap(0, ARENA + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(arena + ARENA, 4096);
	readonly = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mkdir("/tmp/d", 0777);
	symlink("a", "/tmp/link");
	mkfifo("/tmp/fifo", 0666);
	long batches = 0, killed = 0;
	for (long done = 0; done < calls; done += each, batches++) {
		uint64_t seed = rnd();
		pid_t pid = fork();
		if (pid == 0) {
			state = seed;
			batch(each, first, last);
			_exit(0);
		}
		int st, i;
		for (i = 0; waitpid(pid, &st, WNOHANG | __WALL) == 0; i++) {
			if (i == 20)
				kill(pid, SIGKILL), killed++;
			struct timespec nap = {0, 5000000};
			nanosleep(&nap, 0);
		}
		if (getpid() == 1 || batches % 4 == 0)
			kill(-1, SIGKILL);
		while (waitpid(-1, &st, WNOHANG | __WALL) > 0) {
		}
	}
	printf("%ld batches, %s\n", batches, killed > batches / 2 ? "most of them stuck" : "done");
	puts("done");
}
