// Counts in a page of the file "mapped", which it has mapped, at each alarm; no call tells.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
	int fd = open("mapped", O_RDWR | O_CREAT, 0644);
	if (ftruncate(fd, 64 * 4096))
		return 1;
	int *count = mmap(0, 64 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (;;) {
		usleep(100000);
		++*count;
	}
}
