// Large and many allocations, growth, and what cannot be had.
#include "guest.h"

int main(void)
{
	size_t big = 200 << 20;
	char *p = malloc(big);
	SURE(p != NULL);
	for (size_t i = 0; i < big; i += 4096)
		p[i] = i >> 12;
	long sum = 0;
	for (size_t i = 0; i < big; i += 4096)
		sum += p[i];
	SHOW(sum);
	free(p);
	void *q[1000];
	for (int i = 0; i < 1000; i++)
		memset(q[i] = malloc(i * 37 + 1), i, i * 37 + 1);
	int bad = 0;
	for (int i = 0; i < 1000; i++)
		bad += ((unsigned char *)q[i])[i * 37] != (i & 255);
	SHOW(bad);
	for (int i = 0; i < 1000; i++)
		free(q[i]);
	p = calloc(1 << 20, 1);
	for (int i = 0; i < 1 << 20; i++)
		bad += p[i];
	SHOW(bad);
	p = realloc(p, 1 << 24);
	SURE(p != NULL);
	volatile size_t huge = (size_t)1 << 60;
	SURE(malloc(huge) == NULL && errno == ENOMEM);
	void *a;
	SHOWE(posix_memalign(&a, 4096, 10));
	SURE(((unsigned long)a & 4095) == 0);
	void *brk = sbrk(0);
	SURE(sbrk(4096) == brk && sbrk(0) == (char *)brk + 4096);
	SURE(sbrk(-4096) == (char *)brk + 4096);
}
