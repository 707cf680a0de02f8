// Another root directory: what paths mean below it, and who may have it.
// guest: root
#include "guest.h"
#include <sys/socket.h>
#include <sys/un.h>

static void put(const char *name, const char *what)
{
	int fd = MUST(open(name, O_CREAT | O_WRONLY, 0644));
	MUST(write(fd, what, strlen(what)));
	close(fd);
}

static void tell(const char *name)
{
	char b[99] = "";
	struct stat st;
	int fd = open(name, O_RDONLY);
	if (fd < 0)
		printf("%s: %s\n", name, errname(errno));
	else if (read(fd, b, sizeof b - 1) < 0)
		printf("%s: read: %s\n", name, errname(errno));
	else
		printf("%s: %s\n", name, b);
	close(fd);
	printf("stat: %s, access: %s\n", errname(stat(name, &st) ? errno : 0), errname(access(name, F_OK) ? errno : 0));
}

static void where(void)
{
	char b[999];
	printf("cwd %s\n", getcwd(b, sizeof b) ? strrchr(b, '/') : errname(errno));
}

int main(void)
{
	MUST(mkdir("jail", 0755));
	MUST(mkdir("jail/sub", 0755));
	put("outer", "outside");
	put("jail/inner", "inside");
	put("jail/sub/deep", "deep");
	MUST(symlink("/inner", "jail/absolute"));
	MUST(symlink("../../outer", "jail/sub/climbing"));
	MUST(symlink("../inner", "jail/sub/relative"));
	SHOW(chroot("jail/inner"));
	SHOW(chroot("nothing"));
	SHOW(chroot(""));
	SHOW(chroot((char *)8));
	fflush(stdout);
	if (fork() == 0) {
		SHOW(setresuid(1000, 1000, 1000));
		SHOW(chroot("jail"));
		SHOW(chroot("jail/inner"));
		_exit(0);
	}
	wait(NULL);
	int out = MUST(open(".", O_RDONLY | O_DIRECTORY));
	SHOW(chroot("jail"));
	tell("outer"); // the working directory is still outside
	tell("jail/inner");
	SHOW(chdir("/"));
	where();
	tell("/inner");
	tell("inner");
	tell("/outer");
	tell("../outer");
	tell("/../../inner");
	tell("/absolute");
	tell("sub/climbing");
	tell("/sub/relative");
	tell("/proc/self/status");
	tell("/dev/null");
	tell("/etc/passwd");
	SHOW(chdir("sub"));
	where();
	tell("deep");
	tell("../inner");
	SHOW(mkdir("/made", 0755));
	SHOW(rename("/sub/deep", "/made/deep"));
	tell("/made/deep");
	SHOW(symlink("/made/deep", "/link"));
	tell("/link");
	SHOW(unlink("/link"));
	put("/new", "new");
	SHOW(link("/new", "/again"));
	tell("../again");
	SHOW(truncate("/again", 1));
	tell("/new");
	struct stat st;
	SHOW(fstatat(out, "jail/new", &st, 0));
	SHOW(openat(out, "nothing", O_RDONLY));
	int fd = SHOW(openat(out, "outer", O_RDONLY) >= 0);
	struct sockaddr_un a = {AF_UNIX, "/socket"};
	int s = MUST(socket(AF_UNIX, SOCK_STREAM, 0)), c = MUST(socket(AF_UNIX, SOCK_STREAM, 0));
	SHOW(bind(s, (void *)&a, sizeof a));
	SHOW(listen(s, 1));
	strcpy(a.sun_path, "../socket");
	SHOW(connect(c, (void *)&a, sizeof a));
	DIR *d = opendir("/");
	int n = 0;
	while (readdir(d))
		n++;
	printf("%d names\n", n);
	if (fork() == 0) {
		tell("/inner");
		SHOW(execl("/bin/sh", "sh", "-c", "echo no", NULL));
		_exit(0);
	}
	wait(NULL);
	SHOW(chroot("/made"));
	tell("/deep");
	where();
	SHOW(fchdir(out));
	SHOW(chroot("."));
	tell("/outer");
	tell("/jail/inner");
	(void)fd;
}
