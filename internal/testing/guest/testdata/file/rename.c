// Renaming: over files, over directories, into oneself, exchanging.
#include "guest.h"

static void make(const char *f) { close(MUST(open(f, O_CREAT | O_WRONLY, 0600))); }

int main(void)
{
	make("a");
	make("b");
	MUST(mkdir("d", 0700));
	MUST(mkdir("d/e", 0700));
	MUST(mkdir("empty", 0700));
	struct stat sa, sb;
	MUST(stat("a", &sa));
	SHOW(rename("a", "b"));
	MUST(stat("b", &sb));
	SURE(sa.st_ino == sb.st_ino);
	SHOW(access("a", F_OK));
	SHOW(rename("a", "c"));
	SHOW(rename("b", "d"));
	SHOW(rename("d", "b"));
	SHOW(rename("d", "d/e/f"));
	SHOW(rename("empty", "d"));
	SHOW(rename("d", "empty"));
	SHOW(access("empty/e", F_OK));
	SHOW(rename("b", "b"));
	SHOW(rename("b", "missing/b"));
	SHOW(rename("b/x", "c"));
	make("x");
	SHOW(renameat2(AT_FDCWD, "x", AT_FDCWD, "b", RENAME_NOREPLACE));
	SHOW(renameat2(AT_FDCWD, "x", AT_FDCWD, "empty", RENAME_EXCHANGE));
	MUST(stat("x", &sa));
	SURE(S_ISDIR(sa.st_mode));
	SHOW(renameat2(AT_FDCWD, "x", AT_FDCWD, "b", 99));
	SHOW(rename(".", "y"));
	SHOW(rename("x/..", "y"));
	int fd = MUST(open("b", O_RDWR));
	SHOW(rename("b", "moved"));
	SHOW(write(fd, "still open", 10));
	MUST(stat("moved", &sb));
	SHOW(sb.st_size);
}
