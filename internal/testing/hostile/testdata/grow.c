// Objects of the kernel that hold much, more and more of them: argv[2] says which, argv[3] how many
// MiB are tried. The last line but one says how much the kernel took, and what it said to the next.
#include "hostile.h"
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pty.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <time.h>

enum { block = 65536 };
static char data[block];
static long long most, got;

// end tells what was reached.
static int end(const char *what)
{
	printf("%s: %lld MiB, %s\n", what, got >> 20, got >= most ? "all" : strerror(errno));
	puts("done");
	return 0;
}

static void set(const char *name, const char *value)
{
	int fd = open(name, O_WRONLY);
	if (fd >= 0 && write(fd, value, strlen(value)) < 0)
		perror(name);
	close(fd);
}

// fill writes until nobody takes more; -1 when that is not for a full queue.
static int fill(int fd, int size)
{
	for (;;) {
		int n = write(fd, data, size);
		if (n <= 0)
			return n < 0 && errno == EAGAIN ? 0 : -1;
		got += n;
	}
}

// more makes a child that goes on when a process has no more descriptors, up to 60 of them.
static int more(void)
{
	static int made;
	if (errno != EMFILE || ++made > 60)
		return 0;
	int p[2];
	fflush(stdout);
	for (int fd = 3; fd < 10; fd++)
		close(fd);
	if (pipe(p) != 0)
		exit(2);
	pid_t pid = fork();
	if (pid > 0) {
		close(p[1]);
		char c;
		read(p[0], &c, 1);
		waitpid(pid, 0, 0);
		_exit(0);
	}
	if (pid < 0)
		return 0;
	for (int fd = 3; fd < 1 << 20; fd++)
		if (fd != p[1] && close(fd) != 0 && fd > 4096)
			break;
	return 1;
}

static int pairs(int type, int size)
{
	while (got < most) {
		int s[2];
		if (socketpair(AF_UNIX, type | SOCK_NONBLOCK, 0, s) != 0)
			return -1;
		if (fill(s[0], size) != 0 || fill(s[1], size) != 0)
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 1;
	const char *kind = argv[2];
	most = atoll(argv[3]) << 20;
	memset(data, 'x', sizeof data);
	struct rlimit files = {0};
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max < 20000 ? files.rlim_max : 20000;
	setrlimit(RLIMIT_NOFILE, &files);
	struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
	setrlimit(RLIMIT_MSGQUEUE, &all);
	setrlimit(RLIMIT_SIGPENDING, &all);
#define KIND(name) if (!strcmp(kind, name))
	KIND("shm") {
		enum { size = 8 << 20 };
		for (; got < most; got += size) {
			int id = shmget(IPC_PRIVATE, size, 0600);
			char *p = id < 0 ? (char *)-1 : shmat(id, 0, 0);
			if (p == (char *)-1)
				break;
			memset(p, 1, size);
			shmdt(p);
		}
		return end(kind);
	}
	int accepts = !strcmp(kind, "tcp");
	if (accepts || !strcmp(kind, "again")) {
		// Connections that are written to and closed, one after the other. With "again" nobody accepts them.
		struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(7000), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
		int l = socket(AF_INET, SOCK_STREAM, 0);
		if (bind(l, (void *)&a, sizeof a) != 0 || listen(l, 4000) != 0)
			return 1;
		while (got < most) {
			int s = socket(AF_INET, SOCK_STREAM, 0);
			if (s < 0 || connect(s, (void *)&a, sizeof a) != 0 || accepts && accept(l, 0, 0) < 0)
				break;
			fcntl(s, F_SETFL, O_NONBLOCK);
			long long before = got;
			if (fill(s, block) != 0 || got - before < 2 * block)
				break;
			close(s);
		}
		return end(kind);
	}
	KIND("sink") {
		// Takes connections of other nodes, and reads what comes.
		struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(7000)};
		struct pollfd p[1025] = {{socket(AF_INET, SOCK_STREAM, 0), POLLIN}};
		if (bind(p[0].fd, (void *)&a, sizeof a) != 0 || listen(p[0].fd, 4000) != 0)
			return 1;
		for (int n = 1; poll(p, n, -1) > 0;) {
			for (int i = n - 1; i > 0; i--)
				if (p[i].revents && read(p[i].fd, data, block) <= 0) {
					close(p[i].fd);
					p[i] = p[--n];
				}
			if (p[0].revents && n < 1025)
				p[n].fd = accept(p[0].fd, 0, 0), p[n++].events = POLLIN;
		}
		return 0;
	}
	KIND("deaf") {
		// Takes no connection, although there is room for some: no program of the node does anything.
		struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(7000)};
		int l = socket(AF_INET, SOCK_STREAM, 0);
		if (bind(l, (void *)&a, sizeof a) != 0 || listen(l, 4000) != 0)
			return 1;
		for (;;)
			pause();
	}
	KIND("unheard") {
		// Connections to another node, one after the other, written to and closed.
		struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(7000), .sin_addr.s_addr = inet_addr("10.0.0.2")};
		for (nanosleep(&(struct timespec){1, 0}, 0); got < most; nanosleep(&(struct timespec){0, 5000000}, 0)) {
			int s = socket(AF_INET, SOCK_STREAM, 0);
			if (connect(s, (void *)&a, sizeof a) != 0 || fcntl(s, F_SETFL, O_NONBLOCK) != 0 || fill(s, block) != 0)
				break;
			close(s);
		}
		return end(kind);
	}
	KIND("transit") {
		// Connections to another node, all written to and closed before anything has come there.
		enum { many = 1000, each = 15 };
		static int fds[many];
		struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(7000), .sin_addr.s_addr = inet_addr("10.0.0.2")};
		for (int i = 0; i < many; i++) {
			fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
			if (connect(fds[i], (void *)&a, sizeof a) != 0 && errno != EINPROGRESS)
				return 1;
		}
		for (int i = 0; i < many; i++) {
			struct pollfd p = {fds[i], POLLOUT};
			int e = 0;
			socklen_t n = sizeof e;
			if (poll(&p, 1, -1) != 1 || getsockopt(fds[i], SOL_SOCKET, SO_ERROR, &e, &n) != 0 || e != 0)
				return 1;
		}
		for (int i = 0; i < many && got < most; i++) {
			for (int k = 0; k < each && write(fds[i], data, block) == block; k++)
				got += block;
			close(fds[i]);
			nanosleep(&(struct timespec){0, 1}, 0); // a step ends
		}
		return end(kind);
	}
	KIND("stream") {
		pairs(SOCK_STREAM, block);
		return end(kind);
	}
	KIND("datagram") {
		pairs(SOCK_DGRAM, 20000);
		return end(kind);
	}
	KIND("pipe") {
		int p[2];
		while (got < most && pipe2(p, O_NONBLOCK) == 0 && fill(p[1], block) == 0)
			;
		return end(kind);
	}
	KIND("largepipe") {
		int p[2];
		for (set("/proc/sys/fs/pipe-max-size", "16777216"); got < most && pipe2(p, O_NONBLOCK) == 0;) {
			if (fcntl(p[1], F_SETPIPE_SZ, 16 << 20) < 0 && fcntl(p[1], F_SETPIPE_SZ, 1 << 20) < 0 || fill(p[1], block) != 0)
				break;
		}
		return end(kind);
	}
	KIND("msg") {
		set("/proc/sys/kernel/msgmax", "65536");
		set("/proc/sys/kernel/msgmnb", "100000000");
		struct { long type; char text[8192]; } m = {1};
		while (got < most) {
			int id = msgget(IPC_PRIVATE, 0600);
			if (id < 0)
				break;
			while (got < most && msgsnd(id, &m, sizeof m.text, IPC_NOWAIT) == 0)
				got += sizeof m.text;
			if (got < most && errno != EAGAIN)
				break;
		}
		return end(kind);
	}
	KIND("mq") {
		char name[32];
		struct mq_attr big = {.mq_maxmsg = 1000, .mq_msgsize = block}, small = {.mq_maxmsg = 10, .mq_msgsize = 8192};
		for (int i = 0; got < most; i++) {
			snprintf(name, sizeof name, "/grow%d", i);
			mqd_t q = mq_open(name, O_RDWR | O_CREAT | O_NONBLOCK, 0600, &big);
			int size = block;
			if (q < 0)
				q = mq_open(name, O_RDWR | O_CREAT | O_NONBLOCK, 0600, &small), size = 8192;
			if (q < 0)
				break;
			while (mq_send(q, data, size, 0) == 0)
				got += size;
			if (errno != EAGAIN)
				break;
		}
		return end(kind);
	}
	KIND("sem") {
		for (; got < most && semget(IPC_PRIVATE, 32000, 0600) >= 0; got += 32000 * 32)
			;
		return end(kind);
	}
	KIND("sockets") {
		for (; got < most; got += 1024)
			if (socket(AF_INET, SOCK_STREAM, 0) < 0 && !more())
				break;
		return end(kind);
	}
	KIND("eventfds") {
		for (; got < most; got += 256)
			if (eventfd(0, 0) < 0 && !more())
				break;
		return end(kind);
	}
	KIND("epoll") {
		int e = -1;
		int fds[64];
		for (int i = 0; i < 64; i++)
			fds[i] = eventfd(0, 0);
		for (; got < most; got += 64 * 160) {
			e = epoll_create1(0);
			if (e < 0)
				break;
			int i = 0;
			for (; i < 64; i++) {
				struct epoll_event ev = {EPOLLIN};
				if (epoll_ctl(e, EPOLL_CTL_ADD, fds[i], &ev) != 0)
					break;
			}
			if (i < 64)
				break;
		}
		return end(kind);
	}
	KIND("inotify") {
		char name[512];
		set("/proc/sys/fs/inotify/max_queued_events", "100000000");
		set("/proc/sys/fs/inotify/max_user_instances", "100000000");
		memset(name, 'n', 255);
		name[255] = 0;
		for (int k = 0; got < most; k++) {
			int e = inotify_init1(0);
			if (e < 0 || inotify_add_watch(e, ".", IN_ALL_EVENTS) < 0)
				break;
			for (int i = 0; i < 2000; i++, got += 256 * (k + 1)) {
				name[0] = 'a' + i % 2;
				close(open(name, O_RDWR | O_CREAT, 0600));
			}
		}
		return end(kind);
	}
	KIND("memfd") {
		enum { size = 8 << 20 };
		for (; got < most; got += size) {
			int fd = memfd_create("grow", 0);
			if (fd < 0 || ftruncate(fd, size) != 0)
				break;
			char *p = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
			if (p == MAP_FAILED)
				break;
			memset(p, 1, size);
			munmap(p, size);
		}
		return end(kind);
	}
	KIND("tmpfile") {
		enum { size = 8 << 20 };
		char name[64];
		for (int i = 0; got < most; got += size, i++) {
			snprintf(name, sizeof name, "/dev/shm/grow%d", i);
			int fd = open(name, O_RDWR | O_CREAT, 0600);
			if (fd < 0 || ftruncate(fd, size) != 0)
				break;
			char *p = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
			if (p == MAP_FAILED)
				break;
			memset(p, 1, size);
			munmap(p, size);
			close(fd);
		}
		return end(kind);
	}
	KIND("udp") {
		struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
		int s = socket(AF_INET, SOCK_DGRAM, 0), large = 1 << 22;
		while (got < most) {
			int r = socket(AF_INET, SOCK_DGRAM, 0);
			socklen_t n = sizeof a;
			a.sin_port = 0;
			if (r < 0 || bind(r, (void *)&a, sizeof a) != 0 || getsockname(r, (void *)&a, &n) != 0)
				break;
			setsockopt(r, SOL_SOCKET, SO_RCVBUF, &large, sizeof large);
			for (int i = 0; i < 200 && sendto(s, data, 60000, 0, (void *)&a, sizeof a) > 0; i++)
				got += 60000;
		}
		return end(kind);
	}
	KIND("corked") {
		struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(7), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
		for (; got < most; got += 60000) {
			int s = socket(AF_INET, SOCK_DGRAM, 0);
			if (s < 0 || sendto(s, data, 60000, MSG_MORE, (void *)&a, sizeof a) < 0)
				break;
		}
		return end(kind);
	}
	KIND("pty") {
		while (got < most) {
			int m, s;
			if (openpty(&m, &s, 0, 0, 0) != 0)
				break;
			fcntl(m, F_SETFL, O_NONBLOCK);
			fcntl(s, F_SETFL, O_NONBLOCK);
			if (fill(s, block) != 0)
				break;
			fill(m, block);
		}
		return end(kind);
	}
	KIND("rights") {
		// Sockets that hold bytes, and are reached by messages alone.
		int s[2], carry[2], depth = 0;
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, carry);
		while (got < most) {
			if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s) != 0)
				break;
			fill(s[0], block);
			fill(s[1], block);
			char control[CMSG_SPACE(2 * sizeof(int))] = {0};
			struct iovec v = {"x", 1};
			struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
			struct cmsghdr *c = CMSG_FIRSTHDR(&m);
			c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(2 * sizeof(int));
			memcpy(CMSG_DATA(c), s, 2 * sizeof(int));
			if (sendmsg(carry[0], &m, 0) < 0) {
				if (errno != EAGAIN)
					break;
				socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, carry);
			}
			close(s[0]);
			close(s[1]);
		}
		return end(kind);
	}
	KIND("locks") {
		int fd = open("locked", O_RDWR | O_CREAT, 0600);
		for (long at = 0; got < most; at += 2, got += 192) {
			struct flock l = {.l_type = F_WRLCK, .l_start = at, .l_len = 1};
			if (fcntl(fd, F_SETLK, &l) != 0)
				break;
		}
		return end(kind);
	}
	KIND("timers") {
		for (; got < most; got += 256) {
			timer_t t;
			struct sigevent s = {.sigev_notify = SIGEV_NONE};
			if (timer_create(CLOCK_MONOTONIC, &s, &t) != 0)
				break;
		}
		return end(kind);
	}
	KIND("signals") {
		sigset_t set;
		sigfillset(&set);
		sigprocmask(SIG_BLOCK, &set, 0);
		for (; got < most && sigqueue(getpid(), SIGRTMIN, (union sigval){0}) == 0; got += 160)
			;
		return end(kind);
	}
	KIND("netlink") {
		struct { struct nlmsghdr h; struct rtgenmsg g; } r = {{sizeof r, RTM_GETADDR, NLM_F_REQUEST | NLM_F_DUMP}};
		while (got < most) {
			int s = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
			if (s < 0)
				break;
			for (int i = 0; i < 400; i++, got += 1024)
				if (send(s, &r, sizeof r, MSG_DONTWAIT) < 0)
					break;
		}
		return end(kind);
	}
	KIND("proc") {
		for (int i = 0; i < 30000; i++)
			if (mmap(0, 4096, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
				break;
		while (got < most) {
			int fd = open("/proc/self/maps", O_RDONLY), n;
			if (fd < 0)
				break;
			while ((n = read(fd, data, sizeof data)) > 0)
				got += n;
		}
		return end(kind);
	}
	KIND("xattr") {
		char name[64];
		for (int i = 0; got < most; i++) {
			snprintf(name, sizeof name, "f%d", i / 8);
			if (i % 8 == 0)
				close(open(name, O_RDWR | O_CREAT, 0600));
			char attr[64];
			snprintf(attr, sizeof attr, "user.a%d", i % 8);
			if (setxattr(name, attr, data, 60000, 0) != 0 && setxattr(name, attr, data, 3000, 0) != 0)
				break;
			got += 60000;
		}
		return end(kind);
	}
	KIND("log") {
		// Bytes that are written over others, and never synced.
		int fd = open("over", O_RDWR | O_CREAT, 0600);
		while (got < most && pwrite(fd, data, block, got % (1 << 20)) == block)
			got += block;
		return end(kind);
	}
	KIND("backlog") {
		// Connections that wait to be accepted, and hold bytes.
		struct sockaddr_un a = {AF_UNIX, "\0grow"};
		int l = socket(AF_UNIX, SOCK_STREAM, 0);
		if (bind(l, (void *)&a, sizeof a) != 0 || listen(l, 100000) != 0)
			return 1;
		while (got < most) {
			int s = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
			if (s < 0 || connect(s, (void *)&a, sizeof a) != 0 || fill(s, block) != 0)
				break;
			close(s);
		}
		return end(kind);
	}
	return 1;
}
