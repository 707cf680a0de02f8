// Listing directories: everything once, types, rewinding, while it changes.
#include "guest.h"
#include <dirent.h>

int main(void)
{
	char name[32];
	struct dirent **list;
	MUST(mkdir("d", 0700));
	MUST(mkdir("d/dir", 0700));
	MUST(symlink("x", "d/link"));
	MUST(mkfifo("d/fifo", 0600));
	for (int i = 0; i < 5; i++) {
		sprintf(name, "d/f%d", i);
		close(MUST(open(name, O_CREAT | O_WRONLY, 0600)));
	}
	int n = scandir("d", &list, NULL, alphasort);
	for (int i = 0; i < n; i++)
		printf("%s %d\n", list[i]->d_name, list[i]->d_type);
	DIR *d = opendir("d");
	int first = 0, second = 0;
	while (readdir(d))
		first++;
	rewinddir(d);
	while (readdir(d))
		second++;
	printf("%d, %d\n", first, second);
	MUST(unlink("d/f0"));
	rewinddir(d);
	second = 0;
	while (readdir(d))
		second++;
	printf("%d\n", second);
	closedir(d);
	for (int i = 0; i < 500; i++) {
		sprintf(name, "d/many%03d", i);
		close(MUST(open(name, O_CREAT | O_WRONLY, 0600)));
	}
	d = opendir("d");
	struct dirent *e;
	int many = 0, deleted = 0;
	while ((e = readdir(d)))
		if (!strncmp(e->d_name, "many", 4)) {
			many++;
			deleted += unlinkat(dirfd(d), e->d_name, 0) == 0;
		}
	printf("%d seen, %d deleted\n", many, deleted);
	closedir(d);
	SURE(opendir("missing") == NULL && errno == ENOENT);
	SURE(opendir("d/f1") == NULL && errno == ENOTDIR);
	char buf[8];
	SHOW(syscall(SYS_getdents64, MUST(open("d", O_RDONLY)), buf, 8));
	SHOW(syscall(SYS_getdents64, MUST(open("d/f1", O_RDONLY)), buf, 8));
	SHOW(read(MUST(open("d", O_RDONLY)), buf, 8));
}
