// Reads three megabytes slowly, then sends as much back.
#include "../two.h"

int main(int argc, char **argv)
{
	static char b[100000];
	int l = serve(argv), c = MUST(accept(l, NULL, NULL));
	long got = 0;
	unsigned sum = 0;
	ssize_t n;
	while (got < 3000000 && (n = read(c, b, 7777)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			sum = sum * 31 + (unsigned char)b[i];
		got += n;
	}
	printf("got %ld, sum %u\n", got, sum);
	for (long left = 3000000; left > 0; left -= n) {
		for (size_t i = 0; i < sizeof b; i++)
			b[i] = (left - i) % 251;
		n = MUST(write(c, b, left < (long)sizeof b ? left : (long)sizeof b));
	}
	close(c);
}
