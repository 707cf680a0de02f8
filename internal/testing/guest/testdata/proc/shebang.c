// Scripts name their interpreter, with at most one argument.
#include "guest.h"

static void run(const char *text)
{
	int fd = MUST(open("script", O_WRONLY | O_CREAT | O_TRUNC, 0755));
	MUST(write(fd, text, strlen(text)));
	close(fd);
	pid_t child = fork();
	if (child == 0) {
		execl("./script", "ignored", "first", "second", NULL);
		printf("%s\n", errname(errno));
		_exit(99);
	}
	show_wait("script", child);
}

int main(void)
{
	run("#!/bin/sh\necho $0 $1 $2 $#\nexit 5\n");
	run("#! /bin/sh -e \nfalse\nexit 5\n");
	run("#!/bin/echo a  b\n");
	run("#!/usr/bin/env sh\nexit 6\n");
	run("#!/no/such\n");
	run("#!\n");
	int fd = MUST(open("outer", O_WRONLY | O_CREAT, 0755));
	MUST(write(fd, "#!./script\n", 11));
	close(fd);
	fd = MUST(open("script", O_WRONLY | O_CREAT | O_TRUNC, 0755));
	MUST(write(fd, "#!/bin/echo nested\n", 19));
	close(fd);
	pid_t child = fork();
	if (child == 0) {
		execl("./outer", "x", "last", NULL);
		_exit(99);
	}
	show_wait("nested", child);
}
