// guest: gcc -pthread
// At the limit of memory mappings and heap fail with ENOMEM, threads with EAGAIN, and what was there stays.
#include "guest.h"

static void *runs(void *x) { return x; }

int main(void)
{
	struct rlimit l, old;
	size_t big = 256 << 20;
	MUST(getrlimit(RLIMIT_AS, &old));
	char *kept = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	l = (struct rlimit){128 << 20, old.rlim_max};
	MUST(setrlimit(RLIMIT_AS, &l));
	SHOW(mmap(NULL, big, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	SHOW(mmap(NULL, big, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
	SHOW(mremap(kept, 1 << 20, big, MREMAP_MAYMOVE));
	kept[5] = 5;
	SURE(malloc(big) == NULL);
	printf("%s\n", errname(errno));
	SURE(sbrk(big) == (void *)-1);
	printf("%s\n", errname(errno));
	pthread_attr_t a;
	pthread_t t;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, big);
	SHOWE(pthread_create(&t, &a, runs, NULL));
	MUST(setrlimit(RLIMIT_AS, &old));
	SHOWE(pthread_create(&t, &a, runs, NULL));
	SHOWE(pthread_join(t, NULL));
	l = (struct rlimit){4096, old.rlim_max};
	MUST(setrlimit(RLIMIT_DATA, &l));
	SURE(sbrk(1 << 20) == (void *)-1);
	printf("%s\n", errname(errno));
	SURE(mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	printf("%s\n", errname(errno));
	SURE(mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
}
