// popen in both directions, and its exit status.
#include "guest.h"

int main(void)
{
	char b[64];
	FILE *f = popen("echo from child; exit 5", "r");
	while (fgets(b, sizeof b, f))
		printf("got %s", b);
	SHOW(pclose(f) >> 8);
	f = popen("sort", "w");
	fputs("b\nc\na\n", f);
	SHOW(pclose(f));
	f = popen("kill -TERM $$", "r");
	SHOW(pclose(f));
	f = popen("no-such-command 2>/dev/null", "r");
	SHOW(pclose(f) >> 8);
}
