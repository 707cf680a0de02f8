// Extended attributes: who may have which, sizes and errors, and how long they stay.
// guest: root
#include "guest.h"
#include <sys/inotify.h>
#include <sys/xattr.h>

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

// In alphabetical order: file systems keep them in orders of their own.
static void list(const char *path)
{
	char b[4096], *names[100];
	ssize_t size = listxattr(path, b, sizeof b);
	int n = 0;
	for (ssize_t i = 0; i < size; i += strlen(b + i) + 1)
		names[n++] = b + i;
	qsort(names, n, sizeof *names, by_name);
	printf("list of %s: %zd", path, size);
	for (int i = 0; i < n; i++)
		printf(" %s", names[i]);
	printf("\n");
}

int main(void)
{
	char b[70000] = "", big[70000];
	memset(big, 'x', sizeof big);
	close(open("f", O_CREAT | O_RDWR, 0644));
	mkdir("d", 0755);
	symlink("f", "l");
	mkfifo("p", 0644);
	list("f");
	SHOW(getxattr("f", "user.a", b, 10));
	SHOW(setxattr("f", "user.a", "one", 3, XATTR_REPLACE));
	SHOW(setxattr("f", "user.a", "one", 3, XATTR_CREATE));
	SHOW(setxattr("f", "user.a", "one", 3, XATTR_CREATE));
	SHOW(setxattr("f", "user.b", "", 0, 0));
	SHOW(setxattr("f", "trusted.t", "t", 1, 0));
	SHOW(setxattr("f", "security.s", "s", 1, 0));
	SHOW(setxattr("f", "user.a", "other", 5, XATTR_REPLACE));
	SHOW(setxattr("f", "user.a", "other", 5, 7));
	list("f");
	SHOW(getxattr("f", "user.a", NULL, 0));
	SHOW(getxattr("f", "user.a", b, 4));
	SHOW(getxattr("f", "user.a", b, 10));
	printf("%s\n", b);
	SHOW(getxattr("f", "user.b", b, 10));
	SHOW(listxattr("f", b, 3));
	SHOW(listxattr("f", NULL, 0));

	// Names.
	char name[300] = "user.";
	memset(name + 5, 'n', 250);
	SHOW(setxattr("f", name, "x", 1, 0));
	SHOW(removexattr("f", name));
	name[255] = 'n';
	SHOW(setxattr("f", name, "x", 1, 0));
	SHOW(setxattr("f", "", "x", 1, 0));
	SHOW(setxattr("f", "user.", "x", 1, 0));
	SHOW(setxattr("f", "user", "x", 1, 0));
	SHOW(setxattr("f", "other.x", "x", 1, 0));
	SHOW(getxattr("f", "other.x", b, 1));
	SHOW(removexattr("f", "other.x"));
	SHOW(setxattr("f", (char *)1, "x", 1, 0));
	SHOW(setxattr("f", "user.c", (char *)1, 1, 0));
	SHOW(setxattr("f", "user.c", big, 65537, 0));
	SHOW(setxattr("f", "user.c", big, 5000, 0));
	SHOW(setxattr("f", "user.c", big, 3000, 0));
	SHOW(setxattr("none", "user.c", "x", 1, 0));
	SHOW(setxattr("none", "user.c", "x", 1, 9));
	SHOW(setxattr(NULL, "user.c", "x", 1, 0));
	SHOW(getxattr("none", "user.c", b, 1));
	SHOW(listxattr("none", b, 1));
	SHOW(removexattr("none", "user.c"));
	SHOW(removexattr("f", "user.c"));
	SHOW(removexattr("f", "user.c"));

	// Other kinds of files.
	SHOW(setxattr("d", "user.d", "d", 1, 0));
	list("d");
	SHOW(setxattr("l", "user.l", "l", 1, 0));
	SHOW(lsetxattr("l", "user.m", "m", 1, 0));
	SHOW(lgetxattr("l", "user.l", b, 1));
	SHOW(lsetxattr("l", "trusted.m", "m", 1, 0));
	SHOW(llistxattr("l", b, 100));
	SHOW(lremovexattr("l", "trusted.m"));
	SHOW(setxattr("p", "user.p", "p", 1, 0));
	SHOW(getxattr("p", "user.p", b, 1));
	SHOW(setxattr("p", "trusted.p", "p", 1, 0));
	SHOW(setxattr("/proc/self/status", "user.p", "p", 1, 0));
	SHOW(getxattr("/proc/self/status", "user.p", b, 1));
	list("f");

	// Descriptors.
	int fd = open("f", O_RDONLY), path = open("f", O_PATH), pair[2];
	pipe(pair);
	SHOW(fsetxattr(fd, "user.fd", "fd", 2, 0));
	SHOW(fgetxattr(fd, "user.fd", b, 2));
	SHOW(fgetxattr(path, "user.fd", b, 2));
	SHOW(flistxattr(path, b, 2));
	SHOW(fsetxattr(-1, "user.fd", "fd", 2, 0));
	SHOW(fsetxattr(pair[0], "user.fd", "fd", 2, 0));
	SHOW(fgetxattr(pair[0], "user.fd", b, 2));
	SHOW(fgetxattr(pair[0], "trusted.fd", b, 2));
	SHOW(flistxattr(fd, NULL, 0));
	SHOW(fremovexattr(fd, "user.fd"));
	SHOW(fremovexattr(fd, "user.fd"));

	// They belong to the file, not to its name.
	SHOW(rename("f", "g"));
	SHOW(link("g", "h"));
	list("h");
	SHOW(unlink("g"));
	list("h");
	close(open("g", O_CREAT | O_RDWR, 0644));
	list("g");

	// Whoever watches is told.
	int in = inotify_init1(IN_NONBLOCK);
	inotify_add_watch(in, "h", IN_ALL_EVENTS);
	SHOW(setxattr("h", "user.w", "w", 1, 0));
	SHOW(getxattr("h", "user.w", b, 1));
	SHOW(removexattr("h", "user.w"));
	struct inotify_event e;
	while (read(in, &e, sizeof e) == sizeof e)
		printf("event %x\n", e.mask);

	// Somebody else.
	chmod("h", 0640);
	mkdir("s", 01777);
	chmod("s", 01777);
	SHOW(seteuid(1000));
	SHOW(setxattr("h", "user.o", "o", 1, 0));
	SHOW(getxattr("h", "user.a", b, 100));
	SHOW(setxattr("h", "trusted.o", "o", 1, 0));
	SHOW(getxattr("h", "trusted.t", b, 100));
	SHOW(setxattr("h", "security.o", "o", 1, 0));
	SHOW(getxattr("h", "security.s", b, 100));
	SHOW(setxattr("s", "user.o", "o", 1, 0));
	list("h");
	return 0;
}
