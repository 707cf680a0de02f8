// Makes COUNT calls of one kind and nothing else: calls KIND COUNT. Its caller
// takes the time, for under Ariadne clocks are virtual.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
	if (argc != 3)
		return 2;
	const char *kind = argv[1];
	long count = atol(argv[2]);
	int fds[2], set = epoll_create1(0);
	struct epoll_event events[4];
	struct timespec now;
	char buf[4096] = "";
	if (pipe(fds) || set < 0)
		return 1;
	for (long i = 0; i < count; i++) {
		if (strcmp(kind, "getppid") == 0) {
			syscall(SYS_getppid);
		} else if (strcmp(kind, "pipe_read") == 0) {
			// One write fills the pipe for so many reads that it does not count.
			if (i % sizeof buf == 0 && write(fds[1], buf, sizeof buf) < 0)
				return 1;
			if (read(fds[0], buf, 1) != 1)
				return 1;
		} else if (strcmp(kind, "epoll_wait") == 0) {
			// Who only asks in vain is polling, and Ariadne lets time pass. Something taken
			// now and then makes it work, so seldom that it does not count.
			if (i % 512 == 0 && (write(fds[1], buf, 1) != 1 || read(fds[0], buf, 1) != 1))
				return 1;
			if (epoll_wait(set, events, 4, 0) != 0)
				return 1;
		} else if (strcmp(kind, "clock_gettime_stop") == 0) {
			syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
		} else if (strcmp(kind, "clock_read") == 0) {
			clock_gettime(CLOCK_MONOTONIC, &now);
		} else {
			return 2;
		}
	}
	return 0;
}
