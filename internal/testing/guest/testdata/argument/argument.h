// A thread waits in a call while the first thread changes what its arguments point at.
#ifndef ARGUMENT_H
#define ARGUMENT_H
#include "guest.h"

// MEANWHILE lets a thread make a call, changes something when it waits, and ends its wait.
#define MEANWHILE(change, end) \
	do { \
		rest(0); \
		change; \
		end; \
	} while (0)

static inline pthread_t waits(void *(*f)(void *)) { return start(f, NULL); }
static inline void joined(pthread_t t) { pthread_join(t, NULL); }

// fill fills a descriptor that does not wait, and returns with how many bytes.
static inline int fill(int fd)
{
	char b[4096] = {0};
	int fl = fcntl(fd, F_GETFL), all = 0, n;
	fcntl(fd, F_SETFL, fl | O_NONBLOCK);
	while ((n = write(fd, b, sizeof b)) > 0)
		all += n;
	while ((n = write(fd, b, 1)) > 0)
		all += n;
	fcntl(fd, F_SETFL, fl);
	return all;
}

// room takes all but the last of these.
static inline void room(int fd, int filled)
{
	char b[4096];
	for (int left = filled - 100, n; left > 0 && (n = read(fd, b, left < 4096 ? left : 4096)) > 0; left -= n)
		;
}

// drain reads all that there is and prints the last bytes of it.
static inline void drain(int fd, const char *what, int last)
{
	static char b[1 << 20];
	int n = 0, r, fl = fcntl(fd, F_GETFL);
	fcntl(fd, F_SETFL, fl | O_NONBLOCK);
	while ((r = read(fd, b + n, sizeof b - n)) > 0)
		n += r;
	fcntl(fd, F_SETFL, fl);
	printf("%s: %.*s\n", what, last, n < last ? "nothing" : b + n - last);
}
#endif
