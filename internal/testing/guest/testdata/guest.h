// What the guest programs share. A program is a list of calls, each shown with
// what came of it, so that its output says by itself what was asked:
//
//	SHOW(read(p[0], b, 8));   prints   read(p[0], b, 8) = 3
//	                          or       read(p[0], b, 8): EAGAIN
//
// Nothing that differs between two runs may be printed: no address, real time,
// process id, inode or port.
#ifndef GUEST_H
#define GUEST_H
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Whole lines, so that processes which share standard output never mix theirs,
// and fork copies no half-filled buffer.
__attribute__((constructor)) static void guest_init(void)
{
	static char line[4096];
	setvbuf(stdout, line, _IOLBF, sizeof line);
}

// SHOW prints a call that fails with -1 and errno.
#define SHOW(call) show(#call, (long)(call))
static inline long show(const char *what, long r)
{
	if (r == -1)
		printf("%s: %s\n", what, strerrorname_np(errno));
	else
		printf("%s = %ld\n", what, r);
	return r;
}

// SHOWE prints a call that returns an error number, as pthreads do.
#define SHOWE(call) showe(#call, (call))
static inline int showe(const char *what, int e)
{
	printf("%s: %s\n", what, e ? strerrorname_np(e) : "done");
	return e;
}

// SURE prints whether a condition holds.
#define SURE(cond) printf("%s: %s\n", #cond, (cond) ? "yes" : "no")

// MUST ends the program when a call that prepares the scene fails.
#define MUST(call) must(#call, (long)(call))
static inline long must(const char *what, long r)
{
	if (r == -1) {
		printf("cannot go on: %s: %s\n", what, strerrorname_np(errno));
		exit(99);
	}
	return r;
}

static inline const char *errname(int e) { return e ? strerrorname_np(e) : "0"; }

// nap lets others run for a while.
static inline void nap(int ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

// rest waits until the threads of a process sleep (0: this process, the caller
// excepted): who was to wait for something waits by then.
static inline void rest(pid_t pid)
{
	char path[300], b[256];
	for (int quiet = 0; quiet < 2; quiet++) {
		snprintf(path, sizeof path, "/proc/%d/task", pid ? pid : getpid());
		DIR *d = opendir(path);
		struct dirent *e;
		while (d && (e = readdir(d))) {
			if (*e->d_name == '.' || (!pid && atoi(e->d_name) == gettid()))
				continue;
			snprintf(path, sizeof path, "/proc/%d/task/%s/stat", pid ? pid : getpid(), e->d_name);
			int fd = open(path, O_RDONLY);
			ssize_t n = fd < 0 ? 0 : read(fd, b, sizeof b - 1);
			close(fd);
			if (n <= 0)
				continue;
			b[n] = 0;
			char *p = strrchr(b, ')');
			if (p && strchr("RD", p[2]))
				quiet = -1;
		}
		if (d)
			closedir(d);
		nap(1);
	}
}

// now_ms reads the monotonic clock.
static inline long now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// show_status prints what wait(2) says of a child.
static inline void show_status(const char *who, int st)
{
	if (WIFEXITED(st))
		printf("%s exited with %d\n", who, WEXITSTATUS(st));
	else if (WIFSIGNALED(st))
		printf("%s was killed by %s\n", who, sigabbrev_np(WTERMSIG(st)));
	else if (WIFSTOPPED(st))
		printf("%s was stopped by %s\n", who, sigabbrev_np(WSTOPSIG(st)));
	else if (WIFCONTINUED(st))
		printf("%s was continued\n", who);
}

// show_wait waits for one child and prints how it ended.
static inline void show_wait(const char *who, pid_t pid)
{
	int st;
	while (waitpid(pid, &st, 0) < 0)
		if (errno != EINTR) {
			printf("wait for %s: %s\n", who, strerrorname_np(errno));
			return;
		}
	show_status(who, st);
}

// on installs a handler with flags.
static inline void on(int sig, void (*f)(int), int flags)
{
	struct sigaction sa = {.sa_handler = f, .sa_flags = flags};
	MUST(sigaction(sig, &sa, NULL));
}

// ring sends SIGALRM again and again, so that one of them surely meets the call
// that it is to meet.
static inline void ring(int ms)
{
	struct itimerval it = {{0, ms * 1000}, {0, ms * 1000}};
	MUST(setitimer(ITIMER_REAL, &it, NULL));
}

// nothing is a handler that does nothing.
static inline void nothing(int sig) { (void)sig; }

// show_events prints poll or epoll bits by name.
static inline const char *events(unsigned ev)
{
	static char s[8][96];
	static int turn;
	static const struct { unsigned bit; const char *name; } names[] = {
		{1, "IN"}, {2, "PRI"}, {4, "OUT"}, {8, "ERR"}, {16, "HUP"}, {32, "NVAL"},
		{64, "RDNORM"}, {128, "RDBAND"}, {256, "WRNORM"}, {512, "WRBAND"}, {8192, "RDHUP"}};
	char *p = s[turn++ % 8];
	*p = 0;
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (ev & names[i].bit)
			strcat(strcat(p, *p ? "+" : ""), names[i].name);
	return *p ? p : "none";
}

// start makes a thread, or ends the program.
static inline pthread_t start(void *(*f)(void *), void *arg)
{
	pthread_t t;
	if (pthread_create(&t, NULL, f, arg)) {
		printf("cannot go on: no thread\n");
		exit(99);
	}
	return t;
}

// shared returns memory that children share with their parent.
static inline void *shared(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(p == MAP_FAILED ? -1 : 0);
	return p;
}
#endif
