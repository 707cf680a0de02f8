// Filters that a program puts on its own system calls: answers, inheritance, threads.
#include "guest.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <ucontext.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IS(v, t, f) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, v, t, f)
#define RET(v) BPF_STMT(BPF_RET | BPF_K, v)

static long seccomp(unsigned op, unsigned flags, void *arg) { return syscall(SYS_seccomp, op, flags, arg); }

static long put(struct sock_filter *f, int n, unsigned flags)
{
	struct sock_fprog p = {n, f};
	return seccomp(SECCOMP_SET_MODE_FILTER, flags, &p);
}

// on_call answers a call by its number, and lets all others through.
static long on_call(int nr, unsigned answer, unsigned flags)
{
	struct sock_filter f[] = {LOAD(nr), IS(nr, 0, 1), RET(answer), RET(SECCOMP_RET_ALLOW)};
	return put(f, 4, flags);
}

static void child(const char *who, void (*f)(void))
{
	pid_t pid = MUST(fork());
	if (!pid) {
		MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
		f();
		_exit(7);
	}
	int st;
	MUST(waitpid(pid, &st, 0));
	show_status(who, st);
}

static void status(const char *path)
{
	char line[200];
	FILE *s = fopen(path, "r");
	while (s && fgets(line, sizeof line, s))
		if (!strncmp(line, "NoNewPrivs", 10) || !strncmp(line, "Seccomp", 7))
			printf("%s", line);
	if (s)
		fclose(s);
}

static void errnos(void)
{
	MUST(on_call(SYS_getppid, SECCOMP_RET_ERRNO | EMFILE, 0));
	SHOW(getppid());
	MUST(on_call(SYS_getpgrp, SECCOMP_RET_ERRNO | 0, 0));
	SHOW(getpgrp());
	MUST(on_call(SYS_getsid, SECCOMP_RET_ERRNO | 0xffff, 0));
	printf("an error beyond all: %ld\n", syscall(SYS_getsid, 0) == -1 ? (long)errno : 0);
	// The newest of equals counts, and the least of others.
	MUST(on_call(SYS_getppid, SECCOMP_RET_ERRNO | ENFILE, 0));
	SHOW(getppid());
	MUST(on_call(SYS_getppid, SECCOMP_RET_LOG, 0));
	SHOW(getppid());
	MUST(on_call(SYS_getuid, SECCOMP_RET_TRACE, 0));
	SHOW(syscall(SYS_getuid));
	MUST(on_call(SYS_getgid, SECCOMP_RET_LOG, SECCOMP_FILTER_FLAG_LOG));
	SURE(syscall(SYS_getgid) == (long)getegid());
	status("/proc/self/status");
	SHOW(prctl(PR_GET_SECCOMP));
	SHOW(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
	SHOW(seccomp(SECCOMP_SET_MODE_STRICT, 0, NULL));
}

// Calls of memory need no stop of their own elsewhere.
static void memory(void)
{
	MUST(on_call(SYS_munmap, SECCOMP_RET_ERRNO | EBUSY, 0));
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	SURE(p != MAP_FAILED);
	SHOW(munmap(p, 8192));
	strcpy(p, "still there");
	puts(p);
	MUST(on_call(SYS_mprotect, SECCOMP_RET_ERRNO | EXFULL, 0));
	SHOW(mprotect(p, 4096, PROT_READ));
	MUST(on_call(SYS_brk, SECCOMP_RET_ERRNO | ENOMEM, 0));
	SURE(sbrk(4096) == (void *)-1);
	MUST(on_call(SYS_madvise, SECCOMP_RET_ERRNO | EDOM, 0));
	SHOW(madvise(p, 4096, MADV_DONTNEED));
	MUST(on_call(SYS_mmap, SECCOMP_RET_ERRNO | ELOOP, 0));
	SURE(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == ELOOP);
	char cwd[PATH_MAX];
	MUST(on_call(SYS_getcwd, SECCOMP_RET_ERRNO | EXDEV, 0));
	SHOW(syscall(SYS_getcwd, cwd, sizeof cwd));
}

// What a call is asked with.
static void arguments(void)
{
	struct sock_filter f[] = {
		LOAD(nr), IS(SYS_dup2, 0, 12),
		LOAD(arch), IS(AUDIT_ARCH_X86_64, 0, 9),
		LOAD(args[0]), BPF_STMT(BPF_MISC | BPF_TAX, 0),
		LOAD(args[1]), BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),
		BPF_STMT(BPF_ST, 3), BPF_STMT(BPF_LDX | BPF_MEM, 3),
		BPF_STMT(BPF_MISC | BPF_TXA, 0),
		BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO),
		BPF_STMT(BPF_RET | BPF_A, 0),
		RET(SECCOMP_RET_KILL_PROCESS),
		RET(SECCOMP_RET_ALLOW),
	};
	MUST(put(f, sizeof f / sizeof *f, 0));
	SHOW(dup2(1, 0));
	SHOW(dup2(2, 3));
	struct sock_filter high[] = {
		LOAD(nr), IS(SYS_dup, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5]) + 4), IS(0x1234, 0, 1),
		RET(SECCOMP_RET_ERRNO | ERANGE), RET(SECCOMP_RET_ALLOW),
	};
	MUST(put(high, 6, 0));
	SHOW(syscall(SYS_dup, -1, 0, 0, 0, 0, 0x123400000000));
	SHOW(syscall(SYS_dup, -1, 0, 0, 0, 0, 0x123500000000));
	struct sock_filter div[] = {
		LOAD(nr), IS(SYS_getppid, 0, 3),
		BPF_STMT(BPF_LDX | BPF_IMM, 0), BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0), RET(SECCOMP_RET_ERRNO | EDOM),
		RET(SECCOMP_RET_ALLOW),
	};
	MUST(put(div, 6, 0));
	getppid();
}

static void trapped(int sig, siginfo_t *si, void *c)
{
	ucontext_t *u = c;
	printf("signal %d code %d errno %d call %d arch %x, at its place: %d, result %lld\n", sig, si->si_code, si->si_errno, si->si_syscall,
	       si->si_arch, (long long)(uintptr_t)si->si_call_addr == u->uc_mcontext.gregs[REG_RIP], (long long)u->uc_mcontext.gregs[REG_RAX]);
	u->uc_mcontext.gregs[REG_RAX] = 77;
}

static void trap(void)
{
	struct sigaction sa = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};
	MUST(sigaction(SIGSYS, &sa, NULL));
	MUST(on_call(SYS_getppid, SECCOMP_RET_TRAP | 55, 0));
	SHOW(syscall(SYS_getppid));
	MUST(on_call(SYS_brk, SECCOMP_RET_TRAP | 56, 0));
	SHOW(syscall(SYS_brk, 0));
	sigset_t s;
	sigemptyset(&s);
	sigaddset(&s, SIGSYS);
	MUST(sigprocmask(SIG_BLOCK, &s, NULL));
	getppid();
}

static void trap_ignored(void)
{
	signal(SIGSYS, SIG_IGN);
	MUST(on_call(SYS_getppid, SECCOMP_RET_TRAP, 0));
	getppid();
}

static void kill_process(void)
{
	signal(SIGSYS, SIG_IGN);
	MUST(on_call(SYS_getppid, SECCOMP_RET_KILL_PROCESS, 0));
	getppid();
}

static void kill_alone(void)
{
	MUST(on_call(SYS_getppid, SECCOMP_RET_KILL_THREAD, 0));
	getppid();
}

static void unknown(void)
{
	MUST(on_call(SYS_getppid, 0x00010000, 0));
	getppid();
}

static void *dies(void *arg)
{
	MUST(on_call(SYS_getppid, SECCOMP_RET_KILL_THREAD, 0));
	syscall(SYS_getppid);
	puts("not here");
	return NULL;
}

static void kill_thread(void)
{
	pthread_t t = start(dies, NULL);
	SHOWE(pthread_join(t, NULL));
	SURE(getppid() > 0);
}

static int turn[2][2];
static void *member(void *arg)
{
	char b;
	if (arg)
		MUST(on_call(SYS_getpgrp, SECCOMP_RET_ERRNO | EXDEV, 0));
	MUST(write(turn[0][1], "x", 1));
	MUST(read(turn[1][0], &b, 1));
	SHOW(getppid() > 0 ? 0 : -1);
	status("/proc/thread-self/status");
	return NULL;
}

static void together(int own)
{
	char b;
	MUST(pipe(turn[0]));
	MUST(pipe(turn[1]));
	pthread_t t = start(member, own ? &own : NULL);
	MUST(read(turn[0][0], &b, 1));
	SHOW(on_call(SYS_getppid, SECCOMP_RET_ERRNO | EPERM, SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_TSYNC_ESRCH));
	SURE(on_call(SYS_getppid, SECCOMP_RET_ERRNO | EPERM, SECCOMP_FILTER_FLAG_TSYNC) > 0);
	MUST(write(turn[1][1], "x", 1));
	pthread_join(t, NULL);
}
static void tsync(void) { together(0); }
static void tsync_fails(void) { together(1); }

static void strict(void)
{
	SHOW(prctl(PR_GET_SECCOMP));
	MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
	MUST(write(1, "only these\n", 11));
	syscall(SYS_exit, 3);
}

static void strict_dies(void)
{
	MUST(seccomp(SECCOMP_SET_MODE_STRICT, 0, NULL));
	MUST(write(1, "no more\n", 8));
	getppid();
}

static void inherited(void)
{
	MUST(on_call(SYS_getppid, SECCOMP_RET_ERRNO | EACCES, 0));
	child("a child's", memory);
	pid_t pid = MUST(fork());
	if (!pid) {
		SHOW(getppid());
		execl("/proc/self/exe", "seccomp", "again", NULL);
		_exit(1);
	}
	show_wait("the other program", pid);
}

static void bad(void)
{
	struct sock_filter f[] = {LOAD(nr), RET(SECCOMP_RET_ALLOW)};
	struct sock_fprog none = {0, f}, null = {2, NULL}, wild = {2, (void *)8};
	SHOW(seccomp(SECCOMP_SET_MODE_FILTER, 0, NULL));
	SHOW(seccomp(SECCOMP_SET_MODE_FILTER, 0, &none));
	SHOW(seccomp(SECCOMP_SET_MODE_FILTER, 0, &null));
	SHOW(seccomp(SECCOMP_SET_MODE_FILTER, 0, &wild));
	SHOW(seccomp(SECCOMP_SET_MODE_FILTER, 0x400, f));
	SHOW(seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_NEW_LISTENER, f));
	SHOW(seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, f));
	SHOW(seccomp(SECCOMP_SET_MODE_STRICT, 1, NULL));
	SHOW(seccomp(SECCOMP_SET_MODE_STRICT, 0, f));
	SHOW(seccomp(99, 0, NULL));
	SHOW(prctl(PR_SET_SECCOMP, 9, 0));
	SHOW(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL));
	SHOW(put(f, 1, 0)); // no end
	struct sock_filter odd[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), RET(0)}, beyond[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64), RET(0)},
			   half[] = {BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0), RET(0)}, jump[] = {IS(1, 1, 0), RET(0)},
			   ja[] = {BPF_STMT(BPF_JMP | BPF_JA, 1), RET(0)}, div[] = {BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), RET(0)},
			   mod[] = {BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, 2), RET(0)}, shift[] = {BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 32), RET(0)},
			   cell[] = {BPF_STMT(BPF_ST, 16), RET(0)}, unset[] = {BPF_STMT(BPF_LD | BPF_MEM, 1), RET(0)},
			   retx[] = {LOAD(nr), BPF_STMT(BPF_RET | BPF_X, 0)};
	SHOW(put(odd, 2, 0));
	SHOW(put(beyond, 2, 0));
	SHOW(put(half, 2, 0));
	SHOW(put(jump, 2, 0));
	SHOW(put(ja, 2, 0));
	SHOW(put(div, 2, 0));
	SHOW(put(mod, 2, 0));
	SHOW(put(shift, 2, 0));
	SHOW(put(cell, 2, 0));
	SHOW(put(unset, 2, 0));
	SHOW(put(retx, 2, 0));
	struct sock_filter skipped[] = {LOAD(nr), IS(1, 1, 0), BPF_STMT(BPF_ST, 1), BPF_STMT(BPF_LD | BPF_MEM, 1), RET(SECCOMP_RET_ALLOW)};
	SHOW(put(skipped, 5, 0));
	struct sock_filter length[] = {BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0), IS(64, 0, 1), RET(SECCOMP_RET_ALLOW), RET(0)};
	SHOW(put(length, 4, 0));
	static const unsigned answers[] = {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP, SECCOMP_RET_ERRNO,
					   SECCOMP_RET_TRACE, SECCOMP_RET_LOG, SECCOMP_RET_ALLOW, 0x00010000, 1};
	for (unsigned i = 0; i < sizeof answers / sizeof *answers; i++)
		SHOW(seccomp(SECCOMP_GET_ACTION_AVAIL, 0, (void *)&answers[i]));
	SHOW(seccomp(SECCOMP_GET_ACTION_AVAIL, 1, (void *)answers));
	SHOW(seccomp(SECCOMP_GET_ACTION_AVAIL, 0, NULL));
	struct seccomp_notif_sizes sizes;
	SHOW(seccomp(SECCOMP_GET_NOTIF_SIZES, 0, &sizes));
	printf("%d %d %d\n", sizes.seccomp_notif, sizes.seccomp_notif_resp, sizes.seccomp_data);
}

static void not_privileged(void)
{
	pid_t pid = MUST(fork());
	if (!pid) {
		if (!geteuid())
			MUST(setresuid(1000, 1000, 1000));
		SHOW(on_call(SYS_getppid, SECCOMP_RET_ALLOW, 0));
		SHOW(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
		SHOW(on_call(SYS_getppid, SECCOMP_RET_ALLOW, 0));
		_exit(0);
	}
	show_wait("an ordinary user", pid);
}

// What fails here without a stop.
static void unseen(void)
{
	MUST(on_call(SYS_rseq, SECCOMP_RET_ERRNO | EPERM, 0));
	SHOW(syscall(SYS_rseq, NULL, 0, 0, 0));
	MUST(on_call(SYS_rseq, SECCOMP_RET_KILL_PROCESS, 0));
	syscall(SYS_rseq, NULL, 0, 0, 0);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		SHOW(getppid());
		status("/proc/self/status");
		return 0;
	}
	SHOW(prctl(PR_GET_SECCOMP));
	not_privileged();
	child("errors", errnos);
	child("memory", memory);
	child("arguments", arguments);
	child("trap", trap);
	child("ignored trap", trap_ignored);
	child("killed", kill_process);
	child("killed alone", kill_alone);
	child("unknown answer", unknown);
	child("killed thread", kill_thread);
	child("all threads", tsync);
	child("not all threads", tsync_fails);
	child("strict", strict);
	child("strict, in vain", strict_dies);
	child("inherited", inherited);
	child("bad", bad);
	child("unseen", unseen);
	SHOW(prctl(PR_GET_SECCOMP));
	return 0;
}
