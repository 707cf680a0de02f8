// A directory that is removed while it is open, some time after it was opened and some
// before it is used again: states from before may have to be brought back meanwhile.
#include "guest.h"

static void naps(int times)
{
	while (times--)
		nap(1);
}

int main(void)
{
	struct stat st;
	MUST(mkdir("e", 0777));
	int fd = MUST(open("e", O_RDONLY | O_DIRECTORY));
	naps(12);
	MUST(chdir("e"));
	naps(12);
	SHOW(rmdir("../e"));
	naps(12);
	MUST(fstat(fd, &st));
	printf("%d links\n", (int)st.st_nlink);
	SHOW(openat(fd, "f", O_CREAT | O_WRONLY, 0666));
	naps(12);
	SHOW(fchdir(fd));
	return 0;
}
