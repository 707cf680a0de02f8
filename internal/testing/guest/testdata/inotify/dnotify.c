// Signals about directories (F_NOTIFY): which events, once or again and again, and how they end.
#include "guest.h"

static int fds[3];
static char seen[400];

static void told(int sig, siginfo_t *si, void *c)
{
	for (int i = 0; i < 3; i++)
		if (si->si_fd == fds[i])
			sprintf(seen + strlen(seen), " %c(code %d, band %lx)", 'a' + i, si->si_code, si->si_band);
}
static void plain(int sig) { sprintf(seen + strlen(seen), " SIGIO"); }

static void did(const char *what, long r)
{
	printf("%s:%s%s\n", what, r < 0 ? " failed" : "", *seen ? seen : " nothing");
	*seen = 0;
}
#define DID(call) did(#call, (long)(call))

static int touch(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT, 0600);
	return close(fd);
}
static int put(const char *name)
{
	int fd = open(name, O_RDWR);
	write(fd, "x", 1);
	return close(fd);
}
static int look(const char *name)
{
	char b;
	int fd = open(name, O_RDONLY);
	read(fd, &b, 1);
	return close(fd);
}
static int list(const char *name)
{
	DIR *d = opendir(name);
	readdir(d);
	return closedir(d);
}

static int watch(const char *name, unsigned long mask)
{
	int fd = MUST(open(name, O_RDONLY | O_DIRECTORY));
	MUST(fcntl(fd, F_SETSIG, SIGRTMIN + 1));
	MUST(fcntl(fd, F_NOTIFY, mask));
	return fd;
}

static void all(void)
{
	DID(touch("d/f"));
	DID(put("d/f"));
	DID(look("d/f"));
	DID(chmod("d/f", 0640));
	DID(chmod("d", 0750));
	DID(list("d"));
	DID(rename("d/f", "d/g"));
	DID(rename("d/g", "d/sub/g"));
	DID(rename("d/sub/g", "d/g"));
	DID(link("d/g", "d/h"));
	DID(touch("d/sub/deeper"));
	DID(unlink("d/sub/deeper"));
	DID(mkdir("d/m", 0700));
	DID(rmdir("d/m"));
	DID(truncate("d/g", 0));
	DID(unlink("d/g"));
	DID(unlink("d/h"));
}

int main(void)
{
	char dir[] = "/tmp/dnotifyXXXXXX";
	MUST(mkdtemp(dir) ? 0 : -1);
	MUST(chdir(dir));
	MUST(mkdir("d", 0700));
	MUST(mkdir("d/sub", 0700));
	struct sigaction sa = {.sa_sigaction = told, .sa_flags = SA_SIGINFO};
	MUST(sigaction(SIGRTMIN + 1, &sa, NULL));
	on(SIGIO, plain, 0);
	int file = MUST(open("file", O_RDWR | O_CREAT, 0600)), p[2];
	MUST(pipe(p));
	SHOW(fcntl(file, F_NOTIFY, DN_MODIFY));
	SHOW(fcntl(p[0], F_NOTIFY, DN_MODIFY));
	SHOW(fcntl(file, F_NOTIFY, 0));
	SHOW(fcntl(99, F_NOTIFY, 0));

	static const struct { const char *name; unsigned mask; } kinds[] = {{"access", DN_ACCESS}, {"modify", DN_MODIFY}, {"create", DN_CREATE},
		{"delete", DN_DELETE}, {"rename", DN_RENAME}, {"attrib", DN_ATTRIB}};
	for (int i = 0; i < 6; i++) {
		printf("-- %s\n", kinds[i].name);
		fds[0] = watch("d", kinds[i].mask | DN_MULTISHOT);
		all();
		MUST(close(fds[0]));
		did("closed", touch("d/f") + unlink("d/f"));
	}

	puts("-- one shot");
	fds[0] = watch("d", DN_CREATE);
	SURE(fcntl(fds[0], F_GETOWN) == getpid());
	DID(touch("d/1"));
	DID(touch("d/2"));
	puts("-- more and more, then none");
	MUST(fcntl(fds[0], F_NOTIFY, DN_CREATE | DN_MULTISHOT));
	MUST(fcntl(fds[0], F_NOTIFY, DN_DELETE));
	DID(touch("d/3"));
	DID(unlink("d/3"));
	DID(unlink("d/2"));
	MUST(fcntl(fds[0], F_NOTIFY, 0));
	DID(unlink("d/1"));

	puts("-- several");
	MUST(fcntl(fds[0], F_NOTIFY, DN_CREATE | DN_MULTISHOT));
	fds[1] = watch("d", DN_CREATE | DN_MULTISHOT);
	fds[2] = watch("d/sub", DN_ATTRIB | DN_MULTISHOT);
	DID(touch("d/4"));
	DID(chmod("d/sub", 0711));
	MUST(close(dup(fds[1])));
	DID(touch("d/5"));
	puts("-- a child's descriptors are its own");
	pid_t pid = MUST(fork());
	if (!pid) {
		close(fds[0]);
		_exit(touch("d/6"));
	}
	show_wait("child", pid);
	did("by a child", 0);
	puts("-- without a signal of its own");
	MUST(fcntl(fds[0], F_SETSIG, 0));
	DID(touch("d/7"));
	MUST(close(fds[2]));
	MUST(close(fds[0]));
	for (char n[] = "d/4"; n[2] < '8'; n[2]++)
		MUST(unlink(n));
	MUST(unlink("file"));
	MUST(rmdir("d/sub"));
	MUST(rmdir("d"));
	MUST(rmdir(dir));
	return 0;
}
