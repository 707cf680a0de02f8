// Buffered files: append, seek, unget, temporary ones, formats.
#include "guest.h"

int main(void)
{
	char b[64];
	int i;
	double d;
	FILE *f = fopen("f", "w+");
	fprintf(f, "%d %.3f %s\n", 42, 2.5, "words");
	SHOW(ftell(f));
	rewind(f);
	SHOW(fscanf(f, "%d %lf %63s", &i, &d, b));
	printf("%d %.3f %s\n", i, d, b);
	SHOW(fseek(f, 3, SEEK_SET));
	SHOW(fgetc(f));
	SHOW(ungetc('Z', f));
	SHOW(fgetc(f));
	SHOW(fclose(f));
	f = fopen("f", "a");
	fputs("more\n", f);
	fclose(f);
	f = fopen("f", "r");
	for (i = 0; fgets(b, sizeof b, f); i++)
		printf("%d: %s", i, b);
	SHOW(feof(f));
	SHOW(fputc('x', f));
	f = tmpfile();
	SHOW(fwrite("0123456789", 1, 10, f));
	SHOW(fflush(f));
	SHOW(lseek(fileno(f), 0, SEEK_END));
	char name[] = "tempXXXXXX";
	SURE(mkstemp(name) >= 0);
	SURE(strlen(name) == 10 && access(name, F_OK) == 0);
	char dir[] = "dirXXXXXX";
	SURE(mkdtemp(dir) != NULL);
	SURE(fopen("none", "r") == NULL);
}
