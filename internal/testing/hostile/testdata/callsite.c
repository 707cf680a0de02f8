// The instruction by which a thread entered a call is overwritten while the call waits, by the
// call itself or by another process that shares the page. Linux never runs those bytes: the call
// returns behind them. Whoever runs them in between, for a call of its own, runs the program's
// code with its own registers.
#include "hostile.h"
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

// The page that both processes share, with code to be run in its first part.
static struct page {
	unsigned char code[1024];
	volatile int ran;     // the bytes at a call's place were run
	volatile int outside; // a process runs that nobody traces
	volatile int waits, go;
} *shared;

enum { SITE = 0x100, EVIL = 0x200 };

// stub enters the call that its arguments say, at SITE.
static void stub(void)
{
	// mov %rdi,%rax; mov %rsi,%rdi; mov %rdx,%rsi; mov %rcx,%rdx; mov %r8,%r10; mov %r9,%r8
	static const unsigned char before[] = "\x48\x89\xf8\x48\x89\xf7\x48\x89\xd6\x48\x89\xca\x4d\x89\xc2\x4d\x89\xc8";
	memcpy(shared->code + SITE - sizeof before + 1, before, sizeof before - 1);
	memcpy(shared->code + SITE, "\x0f\x05\xc3", 3);
}
#define ENTER ((long (*)(long, long, long, long, long, long))(shared->code + SITE - 18))

// evil is what a supervisor would run in place of the call: it notes that, asks for a process that
// nobody traces, and enters Linux with the number of the supervisor's own calls.
extern const unsigned char evil_begin[], evil_end[], evil_page[], evil_site[];
__asm__(
	".text\n"
	"evil_begin:\n"
	"	lea evil_begin(%rip), %rbx\n"
	"	and $-4096, %rbx\n"
	"	movl $1, 1024(%rbx)\n"     // ran
	"	or $0x800000, %rdi\n"      // CLONE_UNTRACED
	"	mov $39, %eax\n"           // getpid
	"	syscall\n"
	"	test %rax, %rax\n"
	"	jnz 2f\n"
	"	movl $1, 1028(%rbx)\n"     // outside
	"	mov $0x400000000, %rcx\n"  // some seconds
	"1:	dec %rcx\n"
	"	jnz 1b\n"
	"	ud2\n"
	"2:	mov %rbx, %rcx\n"
	"	add $0x102, %rcx\n"        // behind the call's place
	"	jmp *%rcx\n"
	"evil_end:\n");

// over are the bytes that stand in place of the call's instruction.
static const struct { const char *name; unsigned char bytes[2]; } over[] = {
	{"jump", {0xeb, EVIL - SITE - 2 > 127 ? 0x7e : EVIL - SITE - 2}}, {"loop", {0xeb, 0xfe}}, {"ud2", {0x0f, 0x0b}}, {"int3", {0xcc, 0xcc}}, {"hlt", {0xf4, 0xf4}},
	{"int 0x80", {0xcd, 0x80}}, {"sysenter", {0x0f, 0x34}},
};

static void prepare(void)
{
	memset(shared->code, 0x90, sizeof shared->code);
	stub();
	// A short jump leads as far as 0x180.
	memcpy(shared->code + SITE + 0x80, "\xe9\0\0\0\0", 5);
	*(int *)(shared->code + SITE + 0x81) = EVIL - (SITE + 0x85);
	memcpy(shared->code + EVIL, evil_begin, evil_end - evil_begin);
}

static void look(const char *what)
{
	if (shared->ran)
		printf("escaped: the bytes at the place of %s were run\n", what);
	if (shared->outside)
		printf("escaped: %s leaves a process that nobody traces\n", what);
	shared->ran = shared->outside = 0;
	fflush(stdout);
}

static int which; // of over

// receive takes a descriptor, and with it two bytes that go to the place of the call by which they
// are received. To have the descriptor the supervisor makes several calls.
static void receive(void)
{
	int s[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) != 0)
		return;
	// A file of the host's and one of the supervisor's.
	int fds[2] = {open("/proc/self/exe", O_RDONLY), s[0]};
	union { char b[CMSG_SPACE(sizeof fds)]; struct cmsghdr h; } c = {0};
	struct iovec v = {(void *)over[which].bytes, 2};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = c.b, .msg_controllen = sizeof c.b};
	c.h = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fds), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(&c.h), fds, sizeof fds);
	sendmsg(s[0], &m, 0);
	v.iov_base = shared->code + SITE;
	memset(&c, 0, sizeof c);
	long r = ENTER(SYS_recvmsg, s[1], (long)&m, 0, 0, 0);
	fds[0] = fds[1] = -1;
	memcpy(fds, CMSG_DATA(&c.h), sizeof fds);
	printf("recvmsg: %ld, %d\n", r, (fcntl(fds[0], F_GETFD) >= 0) + (fcntl(fds[1], F_GETFD) >= 0));
}

// waiting waits for a while at the place that its parent overwrites.
static void waiting(void)
{
	struct timespec t = {0, 300000000};
	shared->waits = 1;
	long r = ENTER(SYS_nanosleep, (long)&t, 0, 0, 0, 0);
	printf("nanosleep: %ld\n", r);
}

// handled waits there for a signal. Its handler returns to the call, which Linux enters again: only
// now the bytes are read, and they are the program's own doing.
static void on(int sig) { (void)sig; }
static void handled(void)
{
	struct sigaction a = {.sa_handler = on, .sa_flags = SA_RESTART};
	sigaction(SIGUSR1, &a, 0);
	int p[2], st;
	char b;
	pipe(p);
	shared->waits = 1;
	long r = ENTER(SYS_read, p[0], (long)&b, 1, 0, 0);
	printf("read: %ld\n", r);
}

static void overwritten(void (*f)(void), int sig)
{
	prepare();
	shared->waits = 0;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		f();
		fflush(stdout);
		_exit(0);
	}
	for (int i = 0; i < 100 && !shared->waits; i++)
		usleep(1000);
	usleep(50000);
	memcpy(shared->code + SITE, over[which].bytes, 2);
	for (int i = 0; i < 20; i++) // places at which copies of the processes are made
		usleep(5000);
	if (sig)
		kill(pid, sig);
	int st = 0;
	waitpid(pid, &st, 0);
	printf("%s: %s %d\n", over[which].name, WIFEXITED(st) ? "status" : "signal", WIFEXITED(st) ? WEXITSTATUS(st) : WTERMSIG(st));
}

// traps counts the instructions of a program that steps itself.
static volatile int traps;
static void trap(int sig) { traps++; }

// stepped makes calls of every kind while each of its instructions traps.
static void stepped(void)
{
	signal(SIGTRAP, trap);
	int p[2];
	struct stat st;
	__asm__ volatile("pushf\n orl $0x100, (%%rsp)\n popf" ::: "memory", "cc");
	pipe(p);
	fstat(p[0], &st);
	int fd = open("/tmp/stepped", O_CREAT | O_RDWR, 0600);
	write(fd, "x", 1);
	close(fd);
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, 0, 0);
	usleep(1000);
	__asm__ volatile("pushf\n andl $~0x100, (%%rsp)\n popf" ::: "memory", "cc");
	printf("stepped: %d\n", traps > 20);
}

int main(int argc, char **argv)
{
	shared = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	for (which = 0; which < sizeof over / sizeof *over; which++) {
		prepare();
		int st = in_child(receive);
		printf("%s: %d\n", over[which].name, st);
		look("recvmsg");
		overwritten(waiting, 0);
		look("a call that waits");
	}
	// With a handler that returns to them, the bytes are run: no more than natively.
	for (which = 2; which < 5; which++)
		overwritten(handled, SIGUSR1);
	printf("%d\n", in_child(stepped));
	puts("done");
}
