// Changes files and sends datagrams, one call after the other, some of which fail or change
// nothing. With an argument it ends after so many calls.
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int left = -1;

static long did(long result) {
	if (--left == 0)
		_exit(0);
	return result;
}

int main(int argc, char **argv) {
	if (argc > 1 && (left = atoi(argv[1])) == 0)
		return 0;
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(7), .sin_addr.s_addr = inet_addr("10.0.0.2")};
	int s = argc > 1 ? -1 : socket(AF_INET, SOCK_DGRAM, 0);
	int a = did(open("a", O_RDWR | O_CREAT, 0600));
	did(write(a, "one", 3));
	did(sendto(s, "first", 5, 0, (void *)&to, sizeof to));
	did(write(a, "two", 3));
	did(write(-1, "lost", 4)); // EBADF
	did(write(a, "three", 5));
	did(rename("a", "b"));
	did(chmod("b", 0640));
	did(ftruncate(a, 4));
	did(fchmod(a, 0604));
	did(mkdir("d", 0700));
	did(symlink("b", "d/l"));
	did(sendto(s, "second", 6, 0, (void *)&to, sizeof to));
	did(unlink("d/l"));
	pause();
}
