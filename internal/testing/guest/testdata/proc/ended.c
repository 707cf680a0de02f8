// What is seen of a process whose first thread has ended, of one that has ended, and of one that was
// waited for: states in /proc, and what a descriptor of it says.
#include "guest.h"
#include <sys/wait.h>

static void state(pid_t pid, pid_t tid)
{
	char path[64], text[512];
	snprintf(path, sizeof path, tid ? "/proc/%d/task/%d/stat" : "/proc/%d/stat", pid, tid);
	FILE *f = fopen(path, "r");
	if (!f || !fgets(text, sizeof text, f)) {
		printf("stat: none\n");
		return;
	}
	fclose(f);
	char *p = strrchr(text, ')');
	printf("stat: %c\n", p[2]);
	snprintf(path, sizeof path, tid ? "/proc/%d/task/%d/status" : "/proc/%d/status", pid, tid);
	f = fopen(path, "r");
	while (f && fgets(text, sizeof text, f))
		if (!strncmp(text, "State:", 6) || !strncmp(text, "Threads:", 8))
			fputs(text, stdout);
	if (f)
		fclose(f);
}

static int fds[2];

static void *outlive(void *arg)
{
	char c;
	read(fds[0], &c, 1);
	_exit(3);
}

static void polled(int fd)
{
	struct pollfd p = {fd, POLLIN | POLLOUT | POLLRDNORM};
	SHOW(poll(&p, 1, 0));
	printf("events %#x\n", p.revents);
}

int main(void)
{
	MUST(pipe(fds));
	pid_t pid = MUST(fork());
	if (pid == 0) {
		pthread_t t;
		pthread_create(&t, 0, outlive, 0);
		syscall(SYS_exit, 0);
	}
	int fd = MUST(syscall(SYS_pidfd_open, pid, 0));
	for (int i = 0; i < 20; i++)
		nap(5);
	puts("the first thread has ended");
	state(pid, 0);
	state(pid, pid);
	polled(fd);
	MUST(write(fds[1], "x", 1));
	siginfo_t si;
	MUST(waitid(P_PID, pid, &si, WEXITED | WNOWAIT));
	puts("the process has ended");
	state(pid, 0);
	state(pid, pid);
	polled(fd);
	SHOW(syscall(SYS_pidfd_send_signal, fd, 0, 0, 0));
	int status;
	MUST(waitpid(pid, &status, 0));
	puts("it was waited for");
	state(pid, 0);
	polled(fd);
	SHOW(syscall(SYS_pidfd_send_signal, fd, 0, 0, 0));
	SHOW(waitid(P_PIDFD, fd, &si, WEXITED | WNOHANG));
	SHOW(syscall(SYS_pidfd_getfd, fd, 0, 0));
}
