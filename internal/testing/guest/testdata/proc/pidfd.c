// A process held by descriptor: signalled, polled.
#include "guest.h"

// ids are the process ids that fdinfo shows: pid, another number or none.
static void ids(int fd, pid_t pid)
{
	char name[64], b[1024] = {0};
	sprintf(name, "/proc/self/fdinfo/%d", fd);
	int f = MUST(open(name, O_RDONLY));
	MUST(read(f, b, sizeof b - 1));
	close(f);
	for (char *s = strtok(b, "\n"); s; s = strtok(NULL, "\n"))
		if (strstr(s, "pid:") || strstr(s, "Pid:"))
			printf("%.*s %s\n", (int)strcspn(s, ":"), s, atoi(strchr(s, ':') + 1) == pid ? "the child" : strchr(s, ':') + 1);
}

int main(void)
{
	pid_t child = fork();
	if (child == 0)
		for (;;)
			pause();
	int fd = MUST(syscall(SYS_pidfd_open, child, 0));
	SHOW(fcntl(fd, F_GETFD));
	ids(fd, child);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	SHOW(poll(&p, 1, 0));
	SHOW(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
	SHOW(syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0));
	SHOW(poll(&p, 1, 5000));
	ids(fd, child);
	show_wait("child", child);
	ids(fd, child);
	SHOW(poll(&p, 1, 0));
	SHOW(p.revents);
	SHOW(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
	SHOW(syscall(SYS_pidfd_open, getpid(), 77));
}
