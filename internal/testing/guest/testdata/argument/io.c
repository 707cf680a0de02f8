// Lists of buffers, sets of descriptors and positions are read when a call begins, what is written when there is room.
#include "argument.h"
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/sendfile.h>

static int p[2], q[2], ev, file;
static char one[8] = "one....", two[8] = "two....";
static struct iovec v[2];
static fd_set set;
static struct pollfd fds[2];
static uint64_t number;
static off_t at;
static loff_t at2;

static void *writes(void *x) { SHOW(writev(p[1], v, 1)); return x; }
static void *reads(void *x) { SHOW(readv(q[0], v, 1)); return x; }
static void *selects(void *x) { SHOW(select(64, &set, NULL, NULL, NULL)); return x; }
static void *polls(void *x) { SHOW(poll(fds, 2, -1)); return x; }
static void *adds(void *x) { SHOW(write(ev, &number, 8)); return x; }
static void *sends(void *x) { SHOW(sendfile(p[1], file, &at, 3)); return x; }
static void *splices(void *x) { SHOW(splice(file, &at2, p[1], NULL, 3, 0)); return x; }

static fd_set only(int fd)
{
	fd_set s;
	FD_ZERO(&s);
	FD_SET(fd, &s);
	return s;
}

int main(void)
{
	pthread_t t;
	int n;
	MUST(pipe(p)), MUST(pipe(q));

	n = fill(p[1]);
	v[0] = (struct iovec){one, 4};
	t = waits(writes);
	MEANWHILE((v[0].iov_base = two, v[0].iov_len = 7), room(p[0], n));
	joined(t);
	drain(p[0], "writev", 4);

	n = fill(p[1]);
	v[0] = (struct iovec){one, 4};
	t = waits(writes);
	MEANWHILE(memcpy(one, "ONE.", 4), room(p[0], n));
	joined(t);
	drain(p[0], "writev of what has changed", 4);

	v[0] = (struct iovec){one, 4};
	t = waits(reads);
	MEANWHILE(v[0] = ((struct iovec){two, 2}), write(q[1], "abcd", 4));
	joined(t);
	printf("readv: %.4s %.4s\n", one, two);

	set = only(q[0]);
	t = waits(selects);
	MEANWHILE(set = only(p[0]), write(q[1], "a", 1));
	joined(t);
	printf("select: %d %d\n", FD_ISSET(q[0], &set) != 0, FD_ISSET(p[0], &set) != 0);
	drain(q[0], "read", 1);

	fds[0] = (struct pollfd){q[0], POLLIN, 0}, fds[1] = (struct pollfd){p[0], POLLIN, 0};
	t = waits(polls);
	MEANWHILE((fds[0] = (struct pollfd){77, POLLOUT, 99}, fds[1].events = 5), write(q[1], "a", 1));
	joined(t);
	printf("poll: %d %s %s, %s %s\n", fds[0].fd, events(fds[0].events), events(fds[0].revents), events(fds[1].events), events(fds[1].revents));
	drain(q[0], "read", 1);

	ev = eventfd(0, 0);
	number = UINT64_MAX - 1;
	write(ev, &number, 8);
	number = 5;
	t = waits(adds);
	MEANWHILE(number = 9, { uint64_t was; read(ev, &was, 8); });
	joined(t);
	read(ev, &number, 8);
	printf("eventfd: %ld\n", (long)number);

	file = MUST(open("/tmp/argument", O_CREAT | O_RDWR | O_TRUNC, 0600));
	write(file, "0123456789", 10);
	n = fill(p[1]);
	at = 2;
	t = waits(sends);
	MEANWHILE(at = 6, room(p[0], n));
	joined(t);
	drain(p[0], "sendfile", 3);
	SHOW(at);
	n = fill(p[1]);
	at2 = 2;
	t = waits(splices);
	MEANWHILE(at2 = 6, room(p[0], n));
	joined(t);
	drain(p[0], "splice", 3);
	SHOW(at2);
	unlink("/tmp/argument");
}
