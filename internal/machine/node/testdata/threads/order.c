// Threads write texts, a letter at a time: prints in which order they came. One of the texts may be
// !ORDER: the program aborts when they come so.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int p[2];

static void *run(void *arg) {
	for (const char *s = arg; *s; s++)
		if (write(p[1], s, 1) != 1) abort();
	return 0;
}

int main(int argc, char **argv) {
	pthread_t t[8];
	const char *bad = "";
	if (pipe(p)) abort();
	for (int i = 1; i < argc; i++)
		if (argv[i][0] == '!')
			bad = argv[i] + 1;
		else
			pthread_create(&t[i], 0, run, argv[i]);
	for (int i = 1; i < argc; i++)
		if (argv[i][0] != '!') pthread_join(t[i], 0);
	char b[100] = "";
	if (read(p[0], b, sizeof b - 1) < 0) abort();
	puts(b);
	if (!strcmp(b, bad)) abort();
}
