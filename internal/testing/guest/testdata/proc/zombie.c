// A zombie keeps its number and its state until waited for.
#include "guest.h"

static void state(pid_t p)
{
	char name[64], b[256] = {0};
	sprintf(name, "/proc/%d/stat", p);
	int fd = open(name, O_RDONLY);
	if (fd < 0) {
		printf("stat: %s\n", errname(errno));
		return;
	}
	MUST(read(fd, b, 255));
	printf("state %c\n", strrchr(b, ')')[2]);
	close(fd);
}

int main(void)
{
	siginfo_t si;
	pid_t a = fork();
	if (a == 0)
		_exit(0);
	MUST(waitid(P_PID, a, &si, WEXITED | WNOWAIT));
	state(a);
	SHOW(kill(a, SIGKILL));
	SURE(getpgid(a) == getpgrp());
	show_wait("child", a);
	state(a);
	SHOW(kill(a, 0));
}
