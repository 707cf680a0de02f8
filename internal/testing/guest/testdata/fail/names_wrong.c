// Errors of names: too long, too many links, not a directory, not empty, there already.
#include "guest.h"

int main(void)
{
	char name[300], path[5000] = "";
	memset(name, 'n', 299);
	name[299] = 0;
	for (int i = 0; i < 2500; i++)
		strcat(path, "./");
	MUST(mkdir("d", 0700));
	MUST(close(open("d/f", O_CREAT | O_RDWR, 0600)));
	MUST(symlink("b", "a"));
	MUST(symlink("a", "b"));
	MUST(symlink("gone", "dangling"));
	SHOW(open(name, O_CREAT | O_RDWR, 0600));
	SHOW(open(path, O_RDONLY));
	SHOW(open("a", O_RDONLY));
	SHOW(open("d/f/x", O_RDONLY));
	SHOW(open("d/f/", O_RDONLY));
	SHOW(open("d", O_WRONLY));
	SHOW(open("d/f", O_CREAT | O_EXCL, 0600));
	SHOW(open("dangling", O_RDONLY));
	SHOW(open("dangling", O_CREAT | O_EXCL | O_RDWR, 0600));
	SHOW(open("d/f", O_DIRECTORY));
	SHOW(open("a", O_NOFOLLOW));
	SHOW(mkdir("d", 0700));
	SHOW(rmdir("d"));
	SHOW(rmdir("d/f"));
	SHOW(unlink("d"));
	SHOW(rename("d", "d/e"));
	SHOW(rename("d/f", "d"));
	SHOW(rename("d", "d/f"));
	SHOW(link("d", "e"));
	SHOW(link("d/f", "d/f"));
	SHOW(symlink("", "empty"));
	SHOW(open("", O_RDONLY));
	SHOW(readlink("d", path, 10));
	SHOW(truncate("d", 0));
	SHOW(chdir("d/f"));
	SHOW(rename("none", "other"));
	SHOW(unlink("none/x"));
}
