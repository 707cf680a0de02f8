// What cannot be executed, and that the caller lives on.
#include "guest.h"

static void try(const char *path)
{
	char *arg[] = {"x", NULL};
	execve(path, arg, arg + 1);
	printf("%s: %s\n", path, errname(errno));
}

static void file(const char *name, const char *text, mode_t mode)
{
	int fd = MUST(open(name, O_WRONLY | O_CREAT, 0600));
	MUST(write(fd, text, strlen(text)));
	MUST(fchmod(fd, mode));
	close(fd);
}

int main(void)
{
	file("text", "not a program\n", 0755);
	file("noexec", "#!/bin/sh\n", 0644);
	file("badinterp", "#!/no/such/interpreter\n", 0755);
	file("empty", "", 0755);
	file("short", "\177ELF", 0755);
	MUST(mkdir("dir", 0755));
	MUST(symlink("loop", "loop"));
	try("missing");
	try("text");
	try("noexec");
	try("badinterp");
	try("empty");
	try("short");
	try("dir");
	try("text/below");
	try("loop");
	try("");
	char *arg[] = {"x", NULL};
	SHOW(execve("/bin/true", (void *)8, NULL));
	static char big[1 << 18];
	memset(big, 'a', sizeof big - 1);
	arg[0] = big;
	SHOW(execve("/bin/true", arg, NULL));
	SHOW(execve((void *)8, arg, NULL));
}
