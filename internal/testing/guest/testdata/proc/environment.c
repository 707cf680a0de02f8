// Environment and arguments of the program, and changing them.
// guest: args one two=2 --three
#include "guest.h"

int main(int argc, char **argv)
{
	SHOW(argc);
	for (int i = 1; i < argc; i++)
		printf("%s\n", argv[i]);
	printf("TZ=%s\n", getenv("TZ"));
	printf("HOME=%s\n", getenv("HOME"));
	printf("NONE=%s\n", getenv("NONE") ? "set" : "unset");
	SHOW(setenv("NONE", "now", 0));
	SHOW(setenv("NONE", "again", 0));
	printf("%s\n", getenv("NONE"));
	fflush(stdout);
	SHOW(system("echo $NONE; exit 3") >> 8);
	SHOW(unsetenv("NONE"));
	SHOW(system("test -z \"$NONE\""));
	SHOW(system(NULL) != 0);
}
