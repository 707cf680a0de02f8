// unchanged sleeps some times without writing to its memory, and then counts its sleeps there.
#include <time.h>

static volatile int count;

int main(void)
{
	struct timespec second = {1, 0};
	for (register int i = 0; i < 10; i++) {
		if (i >= 5)
			count++;
		nanosleep(&second, 0);
	}
}
