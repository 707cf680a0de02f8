// Writes of up to PIPE_BUF bytes by several processes never mix.
#include "guest.h"

enum { writers = 4, records = 200, size = 3000 };

int main(void)
{
	int p[2], count[writers] = {0}, mixed = 0;
	char b[size];
	MUST(pipe(p));
	for (int i = 0; i < writers; i++)
		if (fork() == 0) {
			memset(b, 'a' + i, size);
			for (int j = 0; j < records; j++)
				MUST(write(p[1], b, size));
			_exit(0);
		}
	close(p[1]);
	for (;;) {
		size_t have = 0;
		ssize_t n;
		while (have < size && (n = read(p[0], b + have, size - have)) > 0)
			have += n;
		if (have == 0)
			break;
		for (size_t i = 0; i < have; i++)
			mixed += b[i] != b[0];
		count[b[0] - 'a']++;
	}
	for (int i = 0; i < writers; i++)
		printf("writer %d: %d records\n", i, count[i]);
	SHOW(mixed);
	while (wait(NULL) > 0)
		;
}
