// Memory into a pipe and out of it.
#include "guest.h"

int main(void)
{
	int p[2];
	char b[16] = {0};
	struct iovec out[] = {{"two", 3}, {"pieces", 6}}, in = {b, 16};
	MUST(pipe(p));
	SHOW(vmsplice(p[1], out, 2, 0));
	SHOW(vmsplice(p[0], &in, 1, 0));
	printf("%s\n", b);
	SHOW(vmsplice(0x1000, out, 2, 0));
	int path = MUST(open(".", O_PATH)), null = MUST(open("/dev/null", O_WRONLY));
	SHOW(vmsplice(path, NULL, 0, 0));
	SHOW(vmsplice(null, NULL, 0, 0));
	SHOW(vmsplice(null, out, 2, 0));
}
