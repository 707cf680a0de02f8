// Answers lines until its client has no more.
#include "../two.h"

int main(int argc, char **argv)
{
	int l = serve(argv), c = MUST(accept(l, NULL, NULL));
	char b[256];
	ssize_t n;
	while ((n = SHOW(read(c, b, sizeof b))) > 0)
		MUST(write(c, b, n));
	close(c);
}
