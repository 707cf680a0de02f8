// Instances, watches and their flags, queues, and who waits for them.
#include "guest.h"
#include <sys/epoll.h>
#include <sys/inotify.h>

static void show_events(int fd)
{
	char b[4096] __attribute__((aligned(8)));
	int n = SHOW(read(fd, b, sizeof b));
	for (char *p = b; p < b + n;) {
		struct inotify_event *e = (void *)p;
		printf("  %d %#x %s %u\n", e->wd, e->mask, e->len ? e->name : "-", e->len);
		p += sizeof *e + e->len;
	}
}

static void touch(const char *name) { MUST(close(MUST(open(name, O_CREAT | O_WRONLY, 0644)))); }

static void *later(void *x)
{
	usleep(20000);
	touch("d/later");
	return NULL;
}

int main(void)
{
	char b[20], name[30];
	struct stat st;
	MUST(mkdir("d", 0755));
	touch("file");
	MUST(symlink("d", "link"));
	MUST(symlink("gone", "dangling"));
	SHOW(inotify_init1(1));
	int fd = MUST(inotify_init());
	SHOW(fcntl(fd, F_GETFL));
	SHOW(fcntl(fd, F_GETFD));
	SHOW(fcntl(fd, F_SETFL, O_NONBLOCK));
	SHOW(fstat(fd, &st));
	SHOW(lseek(fd, 0, SEEK_SET));
	SHOW(write(fd, b, 1));
	SHOW(pread(fd, b, 1, 0));
	SHOW(readlink("/proc/self/fd/3", name, sizeof name));
	printf("%.20s\n", fd == 3 ? name : "");
	SHOW(read(fd, b, 0));
	SHOW(inotify_add_watch(fd, "d", 0));
	SHOW(inotify_add_watch(fd, "d", 0x10000));
	SHOW(inotify_add_watch(fd, "d", 0x00800000 | IN_OPEN));
	SHOW(inotify_add_watch(99, "d", IN_OPEN));
	SHOW(inotify_add_watch(0, "d", IN_OPEN));
	SHOW(inotify_add_watch(fd, "nothing", IN_OPEN));
	SHOW(inotify_add_watch(fd, "", IN_OPEN));
	SHOW(inotify_add_watch(fd, "dangling", IN_OPEN));
	SHOW(inotify_add_watch(fd, "file/x", IN_OPEN));
	SHOW(inotify_add_watch(fd, (char *)1, IN_OPEN));
	SHOW(inotify_add_watch(fd, "file", IN_OPEN | IN_ONLYDIR));
	SHOW(inotify_add_watch(fd, "d", IN_OPEN | IN_MASK_ADD | IN_MASK_CREATE));
	SHOW(inotify_add_watch(fd, "d", IN_CREATE | IN_MASK_CREATE));
	SHOW(inotify_add_watch(fd, "d", IN_CREATE | IN_MASK_CREATE));
	SHOW(inotify_add_watch(fd, "link", IN_DELETE | IN_MASK_ADD));
	SHOW(inotify_add_watch(fd, "link", IN_DELETE_SELF | IN_DONT_FOLLOW));
	touch("d/x");
	SHOW(unlink("d/x"));
	SHOW(unlink("link"));
	SHOW(inotify_rm_watch(fd, 77));
	SHOW(read(fd, b, 0));
	SHOW(read(fd, b, sizeof b));
	show_events(fd);
	SHOW(inotify_add_watch(fd, "d", IN_OPEN | IN_ONESHOT));
	touch("d/x");
	touch("d/x");
	show_events(fd);
	SHOW(inotify_add_watch(fd, "d", IN_MODIFY | IN_CLOSE | IN_EXCL_UNLINK));
	int x = MUST(open("d/x", O_WRONLY));
	for (int i = 0; i < 3; i++)
		MUST(write(x, "y", 1));
	MUST(unlink("d/x"));
	MUST(write(x, "y", 1));
	MUST(close(x));
	show_events(fd);
	for (int i = 1; i < 40; i += 7) {
		sprintf(name, "d/%0*d", i % 28, 1);
		touch(name);
	}
	show_events(fd);
	SHOW(inotify_add_watch(fd, "d", IN_CREATE));

	struct pollfd p = {fd, POLLIN | POLLOUT | POLLRDNORM, 0};
	SHOW(poll(&p, 1, 0));
	int ep = MUST(epoll_create1(0));
	struct epoll_event ev = {EPOLLIN | EPOLLET, {.u32 = 7}};
	MUST(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
	SHOW(epoll_wait(ep, &ev, 1, 0));
	pthread_t t;
	pthread_create(&t, NULL, later, NULL);
	SHOW(epoll_wait(ep, &ev, 1, 5000));
	printf("%u %#x\n", ev.data.u32, ev.events);
	pthread_join(t, NULL);
	SHOW(poll(&p, 1, 0));
	printf("%#x\n", p.revents);
	show_events(fd);
	MUST(unlink("d/later"));
	SHOW(fcntl(fd, F_SETFL, 0));
	pthread_create(&t, NULL, later, NULL);
	show_events(fd);
	pthread_join(t, NULL);

	SHOW(fcntl(fd, F_SETFL, O_NONBLOCK));
	for (int i = 0; i < 20000; i++) {
		sprintf(name, "d/n%d", i % 2);
		MUST(mknod(name, S_IFREG | 0644, 0));
		MUST(unlink(name));
	}
	int n, count = 0, over = 0;
	char big[4096] __attribute__((aligned(8)));
	while ((n = read(fd, big, sizeof big)) > 0)
		for (char *q = big; q < big + n; q += sizeof(struct inotify_event) + ((struct inotify_event *)q)->len, count++)
			over += ((struct inotify_event *)q)->mask == IN_Q_OVERFLOW;
	printf("%d events, %d overflows\n", count, over);

	int other = MUST(inotify_init1(IN_NONBLOCK));
	SHOW(inotify_add_watch(other, "d", IN_CREATE | IN_DELETE_SELF));
	if (fork() == 0) {
		touch("d/child");
		_exit(0);
	}
	wait(NULL);
	show_events(fd);
	show_events(other);
	MUST(unlink("d/child"));
	MUST(unlink("d/later"));
	close(other);
	MUST(system("rm -r d"));
	show_events(fd);
	for (n = 0; (x = inotify_init()) >= 0; n++)
		;
	printf("%s\n", errname(errno));
	return 0;
}
