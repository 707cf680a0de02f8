// At the limit of files' sizes writes are cut, then fail with EFBIG and SIGXFSZ.
#include "guest.h"
#include <sys/sendfile.h>

static void xfsz(int s) { printf("got %s\n", sigabbrev_np(s)); }

int main(void)
{
	static char b[5000];
	struct rlimit l = {6000, 6000};
	struct iovec v[2] = {{b, 3000}, {b, 3000}};
	on(SIGXFSZ, xfsz, 0);
	int f = MUST(open("f", O_RDWR | O_CREAT, 0600)), g = MUST(open("g", O_RDWR | O_CREAT, 0600));
	MUST(ftruncate(g, 20000));
	MUST(setrlimit(RLIMIT_FSIZE, &l));
	SHOW(write(f, b, 5000));
	SHOW(write(f, b, 5000));
	SHOW(write(f, b, 5000));
	SHOW(write(f, b, 0));
	SHOW(pwrite(f, b, 10, 5995));
	SHOW(pwrite(f, b, 10, 6000));
	SHOW(ftruncate(f, 6001));
	SHOW(ftruncate(f, 3000));
	SHOW(truncate("f", 7000));
	SHOW(fallocate(f, 0, 0, 7000));
	SHOW(fallocate(f, FALLOC_FL_KEEP_SIZE, 0, 7000));
	SHOW(posix_fallocate(f, 0, 7000));
	MUST(lseek(f, 1000, SEEK_SET));
	SHOW(writev(f, v, 2));
	SHOW(sendfile(f, g, &(off_t){0}, 5000));
	SHOW(copy_file_range(g, &(loff_t){0}, f, &(loff_t){5000}, 5000, 0));
	SHOW(copy_file_range(g, &(loff_t){0}, f, &(loff_t){6000}, 5000, 0));
	SHOW(pwrite(g, b, 10, 10000));
	SHOW(ftruncate(g, 19000));
	signal(SIGXFSZ, SIG_IGN);
	SHOW(pwrite(f, b, 10, 7000));
	int p[2];
	MUST(pipe(p));
	SHOW(write(p[1], b, 5000));
}
