// guest: root
// Unix sockets are files; ports below 1024 are the privileged's; a watch needs to read.
#include "cred.h"
#include <netinet/in.h>
#include <sys/inotify.h>

static int name(int how, int s, const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	strcpy(a.sun_path, path);
	switch (how) {
	case 0:
		return bind(s, (void *)&a, sizeof a);
	case 1:
		return connect(s, (void *)&a, sizeof a);
	}
	return sendto(s, "x", 1, 0, (void *)&a, sizeof a);
}

static int un(int how, int type, const char *path)
{
	int s = MUST(socket(AF_UNIX, type, 0));
	int r = name(how, s, path), e = errno;
	close(s);
	errno = e;
	return r;
}

static int port(int n)
{
	int s = MUST(socket(AF_INET, SOCK_STREAM, 0));
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(n), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int r = bind(s, (void *)&a, sizeof a), e = errno;
	close(s);
	errno = e;
	return r;
}

static void act(void)
{
	SHOW(un(0, SOCK_STREAM, "roots/new"));
	SHOW(un(0, SOCK_STREAM, "roots/sock"));
	SHOW(un(0, SOCK_STREAM, "free/new"));
	see("free/new");
	SHOW(un(1, SOCK_STREAM, "free/new"));
	SHOW(un(1, SOCK_STREAM, "roots/sock"));
	SHOW(un(1, SOCK_STREAM, "roots/open"));
	SHOW(un(1, SOCK_STREAM, "closed/open"));
	SHOW(un(1, SOCK_STREAM, "roots/missing"));
	SHOW(un(2, SOCK_DGRAM, "roots/dgram"));
	SHOW(un(2, SOCK_DGRAM, "free/dgram"));
	SHOW(port(1023));
	int fd = MUST(inotify_init());
	SHOW(inotify_add_watch(fd, "closed", IN_CREATE));
	SHOW(inotify_add_watch(fd, "closed/file", IN_OPEN));
	SHOW(inotify_add_watch(fd, "listed", IN_CREATE));
	SHOW(inotify_add_watch(fd, "searched", IN_CREATE));
}

int main(void)
{
	umask(0);
	MUST(chmod(".", 0755));
	putdir("roots", 0755, 0, 0);
	putdir("free", 0777, 0, 0);
	putdir("closed", 0700, 0, 0);
	putdir("listed", 0744, 0, 0);
	putdir("searched", 0711, 0, 0);
	put("closed/file", 0666, 0, 0);
	int s[5];
	const char *at[] = {"roots/sock", "roots/open", "closed/open", "roots/dgram", "free/dgram"};
	for (int i = 0; i < 5; i++) {
		s[i] = MUST(socket(AF_UNIX, i < 3 ? SOCK_STREAM : SOCK_DGRAM, 0));
		MUST(name(0, s[i], at[i]));
		if (i < 3)
			MUST(listen(s[i], 5));
	}
	MUST(chmod("roots/sock", 0755));
	MUST(chmod("roots/dgram", 0755));
	AS(1001, 1001, 1001) act();
	AS(1001, 1001, 1001) SHOW(unlink("free/new"));
}
