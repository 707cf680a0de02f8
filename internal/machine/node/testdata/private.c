// A file is mapped privately, written to in memory, and made longer and shorter, with a wait between
// all of that. What is in the mapping is said. Argument: "file" or "memory".
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char *m;

static void say(const char *what)
{
	printf("%s %d %d %d\n", what, m[0], m[4096], m[8192]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int f = strcmp(argv[1], "file") ? memfd_create("m", 0) : open("f", O_RDWR | O_CREAT | O_TRUNC, 0600);
	char page[4096];
	memset(page, 1, sizeof page);
	write(f, page, sizeof page);
	m = mmap(0, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, f, 0);
	m[0] = 2;
	usleep(1000);
	ftruncate(f, 3 * 4096);
	m[8192] = 3;
	say("longer");
	usleep(1000);
	mprotect(m, 3 * 4096, PROT_READ);
	say("still");
	usleep(1000);
	say("before");
	ftruncate(f, 0);
	ftruncate(f, 3 * 4096);
	say("shorter");
	usleep(1000);
	mprotect(m, 3 * 4096, PROT_READ | PROT_WRITE);
	m[4096] = 4;
	say("end");
}
