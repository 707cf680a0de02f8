// O_DIRECT pipes keep the borders of writes.
#include "guest.h"

int main(void)
{
	int p[2];
	static char b[10000];
	SHOW(pipe2(p, O_DIRECT));
	SHOW(write(p[1], "one", 3));
	SHOW(write(p[1], "three", 5));
	SHOW(write(p[1], "six", 3));
	SHOW(read(p[0], b, 100));
	SHOW(read(p[0], b, 2));
	SHOW(read(p[0], b, 100));
	SHOW(write(p[1], b, 10000));
	SHOW(read(p[0], b, 10000));
	SHOW(read(p[0], b, 10000));
}
