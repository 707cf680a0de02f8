// guest: root
// How many pages the pipes of one user may hold: later ones are small, and grow no more.
#include "guest.h"
#include <sys/resource.h>

static int size(int fd) { return fcntl(fd, F_GETPIPE_SZ); }

static int set(int fd, int bytes)
{
	int r = fcntl(fd, F_SETPIPE_SZ, bytes);
	return r < 0 ? -errno : r;
}

int main(void)
{
	enum { many = 1100 };
	static int p[many][2];
	struct rlimit l = {3000, 3000};
	MUST(setrlimit(RLIMIT_NOFILE, &l));
	MUST(setresuid(54321, 54321, 54321));
	int was = 0;
	for (int i = 0; i < many; i++) {
		MUST(pipe2(p[i], O_NONBLOCK));
		if (size(p[i][0]) != was)
			printf("pipe %d: %d\n", i, was = size(p[i][0]));
	}
	printf("of a small one: %d\n", set(p[many - 1][0], 65536));
	printf("of a large one: %d\n", set(p[0][0], 1 << 20));
	printf("smaller: %d\n", set(p[0][0], 4096));
	printf("larger again: %d\n", set(p[0][0], 65536));
	char b[65536];
	printf("%zd in a small one\n", write(p[many - 1][1], b, sizeof b));
	for (int i = 0; i < 100; i++) {
		close(p[i][0]);
		close(p[i][1]);
	}
	int q[2];
	MUST(pipe(q));
	printf("others were closed: %d, %d\n", size(q[0]), set(q[0], 1 << 18));
	
	// A pipe counts until both its ends are closed.
	close(q[0]);
	int r[2];
	MUST(pipe(r));
	printf("%d\n", size(r[0]));
	return 0;
}
