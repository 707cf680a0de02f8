// The process lives on when its first thread ends, and ends with the last.
#include "guest.h"

static pthread_t first;

static void *second(void *x)
{
	void *r;
	SHOWE(pthread_join(first, &r));
	SHOW(r);
	nap(20);
	printf("last\n");
	exit(6);
}

int main(void)
{
	first = pthread_self();
	start(second, NULL);
	pthread_exit((void *)5);
}
