// osync FILE TEXT: writes a line to a new file that is open with O_SYNC.
#include <fcntl.h>
#include <stdio.h>

int main(int argc, char **argv) {
	if (argc != 3) return 2;
	int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_SYNC, 0644);
	return fd < 0 || dprintf(fd, "%s\n", argv[2]) < 0;
}
