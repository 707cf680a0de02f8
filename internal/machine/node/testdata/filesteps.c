// Changes, step by step, files and actions of signals, and says what they are.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static volatile int handled[3];
static int fd;

static void one(int s) { handled[0]++; }
static void two(int s) { handled[1]++; }

static void act(int sig, void (*f)(int), int flags) {
	struct sigaction a = {.sa_handler = f, .sa_flags = flags};
	sigemptyset(&a.sa_mask);
	if (flags & SA_NODEFER) sigaddset(&a.sa_mask, SIGHUP);
	sigaction(sig, &a, 0);
}

static void change(int i) {
	char name[32];
	switch (i % 14) {
	case 0: ftruncate(fd, 5000 * (i % 4)); break;
	case 1: pwrite(fd, "written", 7, 300 * i); break;
	case 2: act(SIGUSR1, i & 16 ? one : two, i & 32 ? SA_NODEFER : 0); break;
	case 3: raise(SIGUSR1); break;
	case 4: act(SIGUSR2, one, SA_RESETHAND); break;
	case 5: {
		struct sigaction a;
		sigaction(SIGUSR2, 0, &a);
		if (a.sa_handler != SIG_DFL) raise(SIGUSR2);
		break;
	}
	case 6: act(SIGTERM, i & 16 ? SIG_IGN : SIG_DFL, 0); break;
	case 7: unlink("b"); break;
	case 8: rename("a", "b"); break;
	case 9: {
		int f = open("a", O_RDWR | O_CREAT, 0644);
		write(f, name, snprintf(name, sizeof name, "step %d", i));
		close(f);
		break;
	}
	case 10: mkdir("d", 0755); break;
	case 11: link("a", "d/c"); break;
	case 12:
		unlink("d/c");
		rmdir("d");
		break;
	case 13:
		fchmod(fd, i & 16 ? 0600 : 0640);
		posix_fallocate(fd, 0, 100 * i);
		break;
	}
}

static void show(const char *name) {
	struct stat st;
	if (stat(name, &st) < 0) {
		printf(" %s:-", name);
		return;
	}
	printf(" %s:%o,%ld,%ld", name, st.st_mode, (long)st.st_nlink, S_ISREG(st.st_mode) ? (long)st.st_size : 0L);
	if (!S_ISREG(st.st_mode)) return;
	unsigned char b[70000];
	int f = open(name, O_RDONLY), n = read(f, b, sizeof b);
	uint32_t h = 1;
	for (int i = 0; i < n; i++) h = h * 31 + b[i];
	close(f);
	printf(",%08x", h);
}

int main(void) {
	fd = open("data", O_RDWR | O_CREAT, 0644);
	signal(SIGUSR1, one);
	for (int i = 0; i < 112; i++) {
		struct timespec t = {0, 1000000};
		nanosleep(&t, 0);
		change(i);
		printf("%d %d %d", i, handled[0], handled[1]);
		for (int s = 0; s < 3; s++) {
			struct sigaction a;
			sigaction((int[]){SIGUSR1, SIGUSR2, SIGTERM}[s], 0, &a);
			printf(" %d%d%d%d", a.sa_handler == one, a.sa_handler == two, a.sa_handler == SIG_IGN, sigismember(&a.sa_mask, SIGHUP));
		}
		struct stat st;
		fstat(fd, &st);
		printf(" %ld,%ld", (long)st.st_size, (long)st.st_blocks);
		show("data");
		show("a");
		show("b");
		show("d");
		show("d/c");
		printf("\n");
		fflush(stdout);
	}
	return 0;
}
