// What cannot be synchronized says EINVAL, what is not open EBADF.
#include "net.h"
#include <sys/epoll.h>

int main(void)
{
	int p[2], f = MUST(open("f", O_RDONLY | O_CREAT, 0600)), d = MUST(open(".", O_RDONLY | O_DIRECTORY)), w = MUST(open("f", O_RDWR));
	MUST(pipe(p));
	int u = MUST(socket(AF_UNIX, SOCK_STREAM, 0)), o = MUST(open("f", O_PATH));
	SHOW(fsync(f));
	SHOW(fdatasync(f));
	SHOW(fsync(d));
	SHOW(fdatasync(d));
	SHOW(fsync(p[1]));
	SHOW(fdatasync(p[0]));
	SHOW(fsync(u));
	SHOW(fsync(epoll_create1(0)));
	SHOW(fsync(o));
	SHOW(fsync(1000));
	SHOW(syncfs(f));
	SHOW(syncfs(o));
	SHOW(sync_file_range(w, 0, 4096, SYNC_FILE_RANGE_WRITE));
	SHOW(sync_file_range(w, -1, 4096, SYNC_FILE_RANGE_WRITE));
	SHOW(sync_file_range(w, 0, 4096, 64));
	SHOW(sync_file_range(p[1], 0, 4096, SYNC_FILE_RANGE_WRITE));
	char *m = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	SHOW(msync(m, 4096, MS_SYNC));
	SHOW(msync(m + 1, 4096, MS_SYNC));
	SHOW(msync(m, 4096, MS_SYNC | MS_ASYNC));
	MUST(munmap(m, 4096));
	SHOW(msync(m, 4096, MS_SYNC));
}
