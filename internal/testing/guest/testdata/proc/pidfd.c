// A process held by descriptor: signalled, polled.
#include "guest.h"

int main(void)
{
	pid_t child = fork();
	if (child == 0)
		for (;;)
			pause();
	int fd = MUST(syscall(SYS_pidfd_open, child, 0));
	SHOW(fcntl(fd, F_GETFD));
	struct pollfd p = {.fd = fd, .events = POLLIN};
	SHOW(poll(&p, 1, 0));
	SHOW(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
	SHOW(syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0));
	SHOW(poll(&p, 1, 5000));
	show_wait("child", child);
	SHOW(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
	SHOW(syscall(SYS_pidfd_open, getpid(), 77));
}
