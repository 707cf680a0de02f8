// Bytes through a pipe, the end of file, and the wrong ends.
#include "guest.h"

int main(void)
{
	int p[2];
	char b[16] = {0};
	SHOW(pipe(p));
	SHOW(write(p[1], "hello", 5));
	SHOW(write(p[1], "world", 5));
	SHOW(read(p[0], b, 7));
	printf("%s\n", b);
	SHOW(read(p[0], b, 16));
	SHOW(write(p[1], "", 0));
	SHOW(write(p[0], "x", 1));
	SHOW(read(p[1], b, 1));
	SHOW(lseek(p[0], 0, SEEK_SET));
	SHOW(pread(p[0], b, 1, 0));
	SHOW(fsync(p[0]));
	SHOW(ftruncate(p[1], 0));
	SHOW(write(p[1], "last", 4));
	close(p[1]);
	SHOW(read(p[0], b, 16));
	SHOW(read(p[0], b, 16));
	struct stat st;
	SHOW(fstat(p[0], &st));
	SURE(S_ISFIFO(st.st_mode));
	SHOW(pipe(NULL));
}
