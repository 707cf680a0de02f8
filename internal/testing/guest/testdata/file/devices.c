// /dev/null, zero, full and the descriptors' names.
#include "guest.h"

int main(void)
{
	char b[16];
	memset(b, 'x', sizeof b);
	int null = MUST(open("/dev/null", O_RDWR)), zero = MUST(open("/dev/zero", O_RDWR)), full = MUST(open("/dev/full", O_RDWR));
	SHOW(read(null, b, 16));
	SHOW(write(null, b, 16));
	SHOW(read(zero, b, 16));
	SURE(b[0] == 0 && b[15] == 0);
	SHOW(write(zero, b, 16));
	SHOW(write(full, b, 16));
	SHOW(read(full, b, 16));
	SHOW(lseek(null, 100, SEEK_SET));
	SHOW(isatty(null));
	char *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
	SURE(m != MAP_FAILED && m[100] == 0);
	SHOW(open("/dev/tty", O_RDWR));
	SURE(open("/dev/stdin", O_RDONLY) >= 0);
	SURE(access("/dev/fd/0", F_OK) == 0);
	SURE(open("/dev/stdout", O_WRONLY) >= 0);
}
