// /dev/full is full: each write fails with ENOSPC, streams at flush or close.
#include "guest.h"

int main(void)
{
	char b[4] = "abc";
	int f = MUST(open("/dev/full", O_RDWR));
	SHOW(write(f, "x", 1));
	SHOW(write(f, "x", 0));
	SHOW(pwrite(f, "x", 1, 100));
	struct iovec v = {"xy", 2};
	SHOW(writev(f, &v, 1));
	SHOW(read(f, b, 3));
	printf("%d %d %d\n", b[0], b[1], b[2]);
	SHOW(fsync(f));
	SHOW(close(f));
	FILE *s = fopen("/dev/full", "w");
	SHOW(fputs("text", s) < 0 ? -1 : 0);
	SHOW(fflush(s));
	SURE(ferror(s));
	SHOW(fclose(s));
	s = fopen("/dev/full", "w");
	SHOW(fputs("text", s) < 0 ? -1 : 0);
	SHOW(fclose(s));
}
