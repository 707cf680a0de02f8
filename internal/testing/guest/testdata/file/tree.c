// Walking and removing a tree.
#include "guest.h"
#include <ftw.h>

static char *seen[64];
static int n;

static int note(const char *path, const struct stat *st, int type, struct FTW *f)
{
	char b[256];
	sprintf(b, "%s type %d level %d", path, type, f->level);
	seen[n++] = strdup(b);
	return 0;
}

static int rm(const char *path, const struct stat *st, int type, struct FTW *f) { return remove(path); }

static int by_name(const void *a, const void *b) { return strcmp(*(char **)a, *(char **)b); }

int main(void)
{
	char path[64] = "t";
	for (int i = 0; i < 4; i++) {
		MUST(mkdir(path, 0700));
		strcat(path, "/f");
		close(MUST(open(path, O_CREAT | O_WRONLY, 0600)));
		path[strlen(path) - 1] = 'd';
	}
	MUST(symlink("nowhere", "t/l"));
	SHOW(nftw("t", note, 8, FTW_PHYS));
	qsort(seen, n, sizeof *seen, by_name);
	for (int i = 0; i < n; i++)
		printf("%s\n", seen[i]);
	SHOW(nftw("t", rm, 8, FTW_PHYS | FTW_DEPTH));
	SHOW(access("t", F_OK));
}
