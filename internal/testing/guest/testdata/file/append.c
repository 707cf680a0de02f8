// O_APPEND: each write goes to the end, by whomever.
#include "guest.h"

int main(void)
{
	char b[32] = {0};
	int a = MUST(open("f", O_RDWR | O_CREAT | O_APPEND, 0600)), c = MUST(open("f", O_RDWR | O_APPEND));
	SHOW(write(a, "aa", 2));
	SHOW(write(c, "cc", 2));
	SHOW(write(a, "aa", 2));
	SHOW(lseek(a, 0, SEEK_CUR));
	SHOW(lseek(a, 0, SEEK_SET));
	SHOW(write(a, "end", 3));
	SHOW(pread(a, b, 32, 0));
	printf("%s\n", b);
	SHOW(pwrite(a, "P", 1, 0));
	SHOW(pread(a, b, 32, 0));
	printf("%s\n", b);
	SHOW(fcntl(a, F_SETFL, 0));
	SHOW(fcntl(a, F_GETFL) == O_RDWR);
	SHOW(pwrite(a, "Q", 1, 0));
	SHOW(pread(a, b, 32, 0));
	printf("%s\n", b);
	for (int i = 0; i < 4; i++)
		if (fork() == 0) {
			for (int j = 0; j < 50; j++)
				MUST(write(c, "0123456789\n", 11));
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	SHOW(lseek(c, 0, SEEK_END));
}
