// A file that a killed process was to put in another's place is as far as it got.
#include "kill.h"

static int how_far;

static void act(void)
{
	int f = MUST(open("new", O_WRONLY | O_CREAT | O_TRUNC, 0600));
	MUST(write(f, "new", how_far > 0 ? 3 : 1));
	if (how_far > 1)
		MUST(rename("new", "file"));
}

int main(void)
{
	for (how_far = 0; how_far < 3; how_far++) {
		int f = MUST(open("file", O_RDWR | O_CREAT | O_TRUNC, 0600));
		MUST(write(f, "old", 3));
		slay(victim(act));
		char b[8] = "", c[8] = "";
		int g = MUST(open("file", O_RDONLY)), n = open("new", O_RDONLY);
		SHOW(read(g, b, 8));
		SHOW(read(n, c, 8));
		printf("%s %s\n", b, c);
		char old[8] = "";
		SHOW(pread(f, old, 8, 0));
		puts(old);
		close(f), close(g), close(n);
		unlink("new");
	}
}
