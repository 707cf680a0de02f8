// Random bytes: lengths, flags, and that they differ.
#include "guest.h"
#include <sys/random.h>

int main(void)
{
	unsigned char a[64], b[64], big[1000];
	SHOW(getrandom(a, 64, 0));
	SHOW(getrandom(b, 64, GRND_NONBLOCK));
	SURE(memcmp(a, b, 64) != 0);
	SHOW(getrandom(big, 1000, GRND_RANDOM));
	SHOW(getrandom(a, 0, 0));
	SHOW(getrandom(a, 8, 0x80));
	SHOW(getrandom((void *)8, 8, 0));
	SHOW(getentropy(a, 32));
	SHOW(getentropy(big, 257));
	int fd = MUST(open("/dev/urandom", O_RDONLY));
	SHOW(read(fd, a, 64));
	SHOW(read(fd, b, 64));
	SURE(memcmp(a, b, 64) != 0);
	fd = MUST(open("/dev/random", O_RDONLY));
	SURE(read(fd, a, 8) > 0);
	int ones = 0;
	for (int i = 0; i < 1000; i++)
		ones += __builtin_popcount(big[i]);
	SURE(ones > 3600 && ones < 4400);
}
