// What a killed process has written is there, as far as it has made the calls; what it kept is not.
#include "kill.h"

static char *shared_page, *private_page;

static void act(void)
{
	int f = MUST(open("data", O_RDWR | O_CREAT | O_APPEND, 0644));
	MUST(write(f, "called ", 7));
	FILE *s = fopen("data", "a");
	fputs("buffered ", s);
	MUST(link("data", "other"));
	int t = MUST(open(".", O_TMPFILE | O_RDWR, 0600));
	MUST(write(t, "unnamed", 7));
	int u = MUST(open("removed", O_RDWR | O_CREAT, 0600));
	MUST(write(u, "x", 1));
	MUST(unlink("removed"));
	strcpy(shared_page, "mapped");
	strcpy(private_page, "private");
}

int main(void)
{
	int m = MUST(open("map", O_RDWR | O_CREAT, 0600));
	MUST(ftruncate(m, 8192));
	shared_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, m, 0);
	private_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, m, 4096);
	slay(victim(act));
	char b[64] = "";
	struct stat st;
	int f = MUST(open("data", O_RDONLY));
	SHOW(read(f, b, 64));
	puts(b);
	MUST(fstat(f, &st));
	printf("links %ld\n", (long)st.st_nlink);
	SHOW(access("removed", F_OK));
	memset(b, 0, sizeof b);
	SHOW(pread(m, b, 16, 0));
	puts(b);
	SHOW(pread(m, b, 16, 4096));
	printf("%d\n", *b);
	int names = 0;
	DIR *d = opendir(".");
	for (struct dirent *e; (e = readdir(d));)
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && strchr("dom", *e->d_name))
			names++;
	SURE(names >= 3);
}
