// The sync family answers as it should for each kind of file.
#include "guest.h"

int main(void)
{
	int fd = MUST(open("f", O_RDWR | O_CREAT | O_SYNC, 0600)), dir = MUST(open(".", O_RDONLY)), p[2];
	MUST(pipe(p));
	SHOW(write(fd, "x", 1));
	SHOW(fsync(fd));
	SHOW(fdatasync(fd));
	SHOW(fsync(dir));
	SHOW(syncfs(fd));
	SHOW(sync_file_range(fd, 0, 1, SYNC_FILE_RANGE_WRITE));
	SHOW(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	SHOWE(posix_fadvise(p[0], 0, 0, POSIX_FADV_DONTNEED));
	SHOW(readahead(fd, 0, 10));
	SHOW(fsync(p[0]));
	SHOW(fsync(999));
	sync();
	SURE((fcntl(fd, F_GETFL) & O_SYNC) == O_SYNC);
}
