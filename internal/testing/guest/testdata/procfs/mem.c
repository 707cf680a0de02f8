// The memory of processes as a file: a process's own, what it may not write itself, a child's, one that is gone.
#include "guest.h"

static const char constant[] = "constant";
static int variable = 5;
static char page[4096] __attribute__((aligned(4096)));

static int seven(void) { return 7; }

static void other(const char *path)
{
	int p[2], back[2], got = 0;
	char b;
	MUST(pipe(p));
	MUST(pipe(back));
	pid_t pid = MUST(fork());
	if (!pid) {
		read(p[0], &b, 1);
		write(back[1], &variable, sizeof variable);
		read(p[0], &b, 1);
		execl("/bin/sleep", "sleep", "100", NULL);
		_exit(1);
	}
	char name[64];
	snprintf(name, sizeof name, path, pid, pid);
	int fd = MUST(open(name, O_RDWR | O_CLOEXEC));
	SHOW(pread(fd, &got, sizeof got, (off_t)&variable));
	SHOW(got);
	got = 11;
	SHOW(pwrite(fd, &got, sizeof got, (off_t)&variable));
	MUST(write(p[1], "x", 1));
	MUST(read(back[0], &got, sizeof got));
	printf("it has %d, we have %d\n", got, variable);
	MUST(write(p[1], "x", 1));
	int gone = -1;
	for (int i = 0; i < 1000 && gone != 0; i++) {
		nap(2);
		gone = pread(fd, &got, sizeof got, (off_t)&variable);
	}
	printf("what it had before it executed another program: %d\n", gone);
	MUST(kill(pid, SIGKILL));
	show_wait("it", pid);
	SHOW(pread(fd, &got, sizeof got, (off_t)&variable));
	SHOW(open(name, O_RDONLY));
}

int main(void)
{
	char b[8192] = "";
	int fd = MUST(open("/proc/self/mem", O_RDWR));
	struct stat st;
	MUST(fstat(fd, &st));
	printf("%o, %ld bytes\n", st.st_mode, (long)st.st_size);
	MUST(stat("/proc/self/mem", &st));
	printf("%o\n", st.st_mode);
	SHOW(pread(fd, b, sizeof constant, (off_t)constant));
	puts(b);
	SHOW(pwrite(fd, "Changed.", 8, (off_t)constant));
	puts((const char *)(volatile const char *)constant);
	SURE(lseek(fd, (off_t)&variable, SEEK_SET) == (off_t)&variable);
	int six = 6, was = 0;
	SHOW(write(fd, &six, sizeof six));
	SHOW(variable);
	SURE(lseek(fd, -(off_t)sizeof six, SEEK_CUR) == (off_t)&variable);
	SHOW(read(fd, &was, sizeof was));
	SHOW(was);
	SHOW(lseek(fd, 0, SEEK_END));
	struct iovec v[2] = {{b, 3}, {b + 5, 4}};
	memcpy(page, "abcdefgh", 8);
	SHOW(preadv(fd, v, 2, (off_t)page));
	printf("%.3s %.4s\n", b, b + 5);
	SHOW(pwritev(fd, v, 2, (off_t)page + 4));
	printf("%.11s\n", page);

	// Memory that cannot be read, and none.
	char *m = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	strcpy(m, "first");
	strcpy(m + 4096, "hidden");
	MUST(mprotect(m + 4096, 4096, PROT_NONE));
	MUST(munmap(m + 8192, 4096));
	SHOW(pread(fd, b, 7, (off_t)m + 4096));
	puts(b);
	SHOW(pwrite(fd, "seen", 5, (off_t)m + 4096));
	MUST(mprotect(m + 4096, 4096, PROT_READ));
	puts(m + 4096);
	SHOW(pread(fd, b, 8192, (off_t)m + 4096));
	SHOW(pread(fd, b, 1, (off_t)m + 8192));
	SHOW(pread(fd, b, 1, 0));
	SHOW(pread(fd, b, 0, 0));
	SHOW(pread(fd, (void *)8, 1, (off_t)m));
	SHOW(pwrite(fd, (void *)8, 1, (off_t)m));
	SHOW(pread(fd, b, 1, -1));
	char *r = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	SHOW(pwrite(fd, "x", 1, (off_t)r));
	SURE(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED);

	// Code.
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	SHOW(pwrite(fd, (void *)seven, 64, (off_t)code));
	SHOW(((int (*)(void))code)());

	other("/proc/%d/mem");
	other("/proc/%d/task/%d/mem");
	int ro = MUST(open("/proc/thread-self/mem", O_RDONLY));
	SHOW(pwrite(ro, "x", 1, (off_t)page));
	if (!geteuid()) {
		pid_t pid = MUST(fork());
		if (!pid) {
			char name[64];
			snprintf(name, sizeof name, "/proc/%d/mem", getppid());
			MUST(setresuid(1000, 1000, 1000));
			SHOW(open(name, O_RDONLY));
			_exit(0);
		}
		show_wait("another user", pid);
	}
	return 0;
}
