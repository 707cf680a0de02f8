// A program that replaces a file again and again, and syncs nothing; with an argument, the check
// of what a power loss leaves.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int check(void)
{
	char b[64] = "";
	int fd = open("value", O_RDONLY);

	if (fd < 0)
		return 0;
	return read(fd, b, sizeof b) <= 0 || strncmp(b, "value ", 6) != 0;
}

int main(int argc, char **argv)
{
	char b[64];

	if (argc > 1)
		return check();
	for (int i = 0; i < 40; i++) {
		int n = snprintf(b, sizeof b, "value %d\n", i);
		int fd = open("tmp", O_CREAT | O_WRONLY | O_TRUNC, 0644);

		if (fd < 0 || write(fd, b, n) != n || close(fd) || rename("tmp", "value"))
			return 1;
	}
	return 0;
}
