// What /proc shows of a process that has ended and is not waited for, and of one whose first thread
// alone has ended.
#include "guest.h"

static int told[2];

// look tries a file of a process's directory.
static void look(const char *what, pid_t pid, const char *name)
{
	char path[300], b[4096];
	sprintf(path, "/proc/%d/%s", pid, name);
	printf("%s %s: link %s", what, name, readlink(path, b, sizeof b) < 0 ? errname(errno) : "there");
	int fd = open(path, O_RDONLY);
	printf(", open %s", fd < 0 ? errname(errno) : "done");
	if (fd >= 0) {
		ssize_t n = read(fd, b, sizeof b);
		printf(", read %s", n < 0 ? errname(errno) : n > 0 ? "something" : "nothing");
		close(fd);
	}
	printf("\n");
}

static void count(const char *what, pid_t pid, const char *name)
{
	char path[300];
	sprintf(path, "/proc/%d/%s", pid, name);
	DIR *d = opendir(path);
	int n = 0;
	for (struct dirent *e; d && (e = readdir(d));)
		n += *e->d_name != '.';
	printf("%s %s: %d entries\n", what, name, n);
}

static void show_all(const char *what, pid_t pid)
{
	const char *names[] = {"cwd", "cwd/x", "exe", "root", "root/etc", "fd/0", "fd/0/x", "fdinfo/0", "ns/net", "maps",
		"cmdline", "comm", "stat", "status"};
	for (int i = 0; i < sizeof names / sizeof *names; i++)
		look(what, pid, names[i]);
	count(what, pid, "fd");
	count(what, pid, "fdinfo");
	count(what, pid, "task");
}

static void *second(void *first)
{
	pthread_join(*(pthread_t *)first, NULL);
	MUST(write(told[1], "x", 1));
	for (;;)
		pause();
}

int main(void)
{
	siginfo_t si;
	char c;
	pid_t a = fork();
	if (a == 0)
		_exit(0);
	MUST(waitid(P_PID, a, &si, WEXITED | WNOWAIT));
	show_all("process", a);
	waitpid(a, NULL, 0);
	MUST(pipe(told));
	if ((a = fork()) == 0) {
		pthread_t t, self = pthread_self();
		pthread_create(&t, NULL, second, &self);
		pthread_exit(NULL);
	}
	MUST(read(told[0], &c, 1));
	show_all("first thread", a);
	kill(a, SIGKILL);
	waitpid(a, NULL, 0);
}
