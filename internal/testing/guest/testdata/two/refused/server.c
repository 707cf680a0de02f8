// Waits for one connection and leaves.
#include "../two.h"

int main(int argc, char **argv)
{
	int l = serve(argv);
	char b[8];
	int c = MUST(accept(l, NULL, NULL));
	close(l);
	SHOW(write(c, "closed", 6));
	SHOW(read(c, b, 8));
}
