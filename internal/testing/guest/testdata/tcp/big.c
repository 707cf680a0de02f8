// Four megabytes arrive whole and in order, through short writes and short reads.
#include "net.h"

enum { total = 4 << 20 };

static void *sender(void *p)
{
	int s = *(int *)p;
	static unsigned char b[50000];
	unsigned x = 1;
	size_t sent = 0;
	while (sent < total) {
		size_t n = total - sent < sizeof b ? total - sent : sizeof b;
		for (size_t i = 0; i < n; i++)
			b[i] = (x = x * 1664525 + 1013904223) >> 24;
		for (size_t done = 0; done < n;)
			done += MUST(write(s, b + done, n - done));
		sent += n;
	}
	MUST(shutdown(s, SHUT_WR));
	return NULL;
}

int main(void)
{
	int s[2];
	static unsigned char b[30000];
	unsigned x = 1;
	long got = 0, wrong = 0;
	ssize_t n;
	tcp_pair(s);
	pthread_t t = start(sender, &s[0]);
	while ((n = read(s[1], b, sizeof b)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			wrong += b[i] != (unsigned char)((x = x * 1664525 + 1013904223) >> 24);
		got += n;
	}
	pthread_join(t, NULL);
	SHOW(n);
	SHOW(got);
	SHOW(wrong);
}
