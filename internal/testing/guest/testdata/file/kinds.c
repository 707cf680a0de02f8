// Every kind of descriptor meets every call that takes one: what is read, written or done, and which
// error comes first. Each call gets a descriptor of its own. What is left out is not modelled, or
// differs between versions of Linux and file systems.
// guest: gcc -lutil
#include "net.h"
#include <pty.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/statfs.h>
#include <sys/timerfd.h>
#include <sys/xattr.h>

static int other; // the other end, or -1

static int file(int flags)
{
	int fd = MUST(open("file", O_RDWR | O_CREAT | O_TRUNC, 0644));
	MUST(write(fd, "0123456789", 10));
	close(fd);
	return MUST(open("file", flags));
}

static int end(int fds[2], int which)
{
	other = fds[!which];
	return fds[which];
}

static int piped(int which)
{
	int p[2];
	MUST(pipe(p));
	MUST(write(p[1], "pipe", 4));
	return end(p, which);
}

static int paired(int type)
{
	int p[2];
	MUST(socketpair(AF_UNIX, type, 0, p));
	MUST(write(p[1], "pair", 4));
	return end(p, 0);
}

static int connected(void)
{
	int p[2];
	tcp_pair(p);
	MUST(write(p[1], "tcp", 3));
	struct pollfd f = {.fd = p[0], .events = POLLIN};
	poll(&f, 1, 1000);
	return end(p, 0);
}

static int pty(int which)
{
	int p[2];
	MUST(openpty(&p[0], &p[1], NULL, NULL, NULL));
	return end(p, which);
}

static int named(int flags)
{
	unlink("fifo");
	MUST(mkfifo("fifo", 0600));
	return MUST(open("fifo", flags));
}

static int local(void)
{
	int s = unix_bound(SOCK_STREAM, "@kinds");
	MUST(listen(s, 1));
	return s;
}

static int signals(void)
{
	sigset_t s;
	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	return MUST(signalfd(-1, &s, 0));
}

enum kind {
	CLOSED, FILE_R, FILE_W, FILE_RW, FILE_APPEND, FILE_PATH, DIRECTORY, DIRECTORY_PATH, UNNAMED, MEMFD, PIPE_R,
	PIPE_W, FIFO_RW, FIFO_R, STREAM, DGRAM, SEQPACKET, UNIX_FRESH, UNIX_LISTENER, TCP, TCP_FRESH, TCP_LISTENER,
	UDP, UDP6, EVENTFD, TIMERFD, SIGNALFD, EPOLL, INOTIFY, NULL_DEVICE, ZERO, FULL, MASTER, SLAVE, ATTRIBUTE,
	PROCESS,
	KINDS,
};

static const char *const names[KINDS] = {
	"closed", "file r", "file w", "file rw", "file append", "file path", "directory", "directory path",
	"unnamed file", "memfd", "pipe r", "pipe w", "fifo rw", "fifo r", "stream", "dgram", "seqpacket",
	"unix fresh", "unix listener", "tcp", "tcp fresh", "tcp listener", "udp", "udp6", "eventfd", "timerfd",
	"signalfd", "epoll", "inotify", "null", "zero", "full", "master", "slave", "attribute", "process",
};

static int make(enum kind kind)
{
	other = -1;
	switch (kind) {
	case CLOSED: return 60;
	case FILE_R: return file(O_RDONLY);
	case FILE_W: return file(O_WRONLY);
	case FILE_RW: return file(O_RDWR);
	case FILE_APPEND: return file(O_RDWR | O_APPEND);
	case FILE_PATH: return file(O_PATH);
	case DIRECTORY: return MUST(open("dir", O_RDONLY));
	case DIRECTORY_PATH: return MUST(open("dir", O_PATH));
	case UNNAMED: return MUST(open(".", O_TMPFILE | O_RDWR, 0600));
	case MEMFD: return MUST(memfd_create("m", MFD_ALLOW_SEALING));
	case PIPE_R: return piped(0);
	case PIPE_W: return piped(1);
	case FIFO_RW: return named(O_RDWR);
	case FIFO_R: return named(O_RDONLY | O_NONBLOCK);
	case STREAM: return paired(SOCK_STREAM);
	case DGRAM: return paired(SOCK_DGRAM);
	case SEQPACKET: return paired(SOCK_SEQPACKET);
	case UNIX_FRESH: return MUST(socket(AF_UNIX, SOCK_STREAM, 0));
	case UNIX_LISTENER: return local();
	case TCP: return connected();
	case TCP_FRESH: return MUST(socket(AF_INET, SOCK_STREAM, 0));
	case TCP_LISTENER: return listener(&(struct sockaddr_in){0});
	case UDP: return MUST(socket(AF_INET, SOCK_DGRAM, 0));
	case UDP6: return MUST(socket(AF_INET6, SOCK_DGRAM, 0));
	case EVENTFD: return MUST(eventfd(1, 0));
	case TIMERFD: return MUST(timerfd_create(CLOCK_MONOTONIC, 0));
	case SIGNALFD: return signals();
	case EPOLL: return MUST(epoll_create1(0));
	case INOTIFY: return MUST(inotify_init());
	case NULL_DEVICE: return MUST(open("/dev/null", O_RDWR));
	case ZERO: return MUST(open("/dev/zero", O_RDWR));
	case FULL: return MUST(open("/dev/full", O_RDWR));
	case MASTER: return pty(0);
	case SLAVE: return pty(1);
	case ATTRIBUTE: return MUST(open("/proc/self/comm", O_RDWR));
	case PROCESS: return MUST(open("/proc/self", O_RDONLY));
	default: return -1;
	}
}

// device keeps what changes a file off those of the machine.
static int device(enum kind k) { return k >= NULL_DEVICE && k <= MASTER; }
static int directory(enum kind k) { return k == DIRECTORY || k == DIRECTORY_PATH; }
static int terminal(enum kind k) { return k == MASTER || k == SLAVE; }
static int tcp(enum kind k) { return k >= TCP && k <= TCP_LISTENER; }
static int fifo(enum kind k) { return k == FIFO_RW || k == FIFO_R; }

static long selected(int fd)
{
	fd_set r, w, e;
	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_ZERO(&e);
	FD_SET(fd, &r);
	FD_SET(fd, &w);
	FD_SET(fd, &e);
	if (select(fd + 1, &r, &w, &e, &(struct timeval){0}) < 0)
		return -1;
	return !!FD_ISSET(fd, &r) + 2 * !!FD_ISSET(fd, &w) + 4 * !!FD_ISSET(fd, &e);
}

// TRY shows a call on a descriptor of each kind but those of /proc, ALL of these too. Calls that
// would wait are interrupted.
#define TRY(...) UPTO(ATTRIBUTE, __VA_ARGS__)
#define ALL(...) UPTO(KINDS, __VA_ARGS__)
#define UPTO(end, ...)                                                          \
	do {                                                                    \
		printf("%s\n", #__VA_ARGS__);                                   \
		for (enum kind kind = 0; kind < end; kind++) {                  \
			int fd = make(kind);                                    \
			ring(20);                                               \
			long r = (long)(__VA_ARGS__);                           \
			int e = errno;                                          \
			setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);   \
			if (r == -1)                                            \
				printf("  %s: %s\n", names[kind], errname(e));  \
			else                                                    \
				printf("  %s = %ld\n", names[kind], r);         \
			if (kind != CLOSED)                                     \
				close(fd);                                      \
			if (other >= 0)                                         \
				close(other);                                   \
		}                                                               \
	} while (0)

int main(void)
{
	static char b[8192];
	struct stat st;
	struct statfs sf;
	struct iovec v[2] = {{b, 3}, {b, 3}};
	struct flock lock = {.l_type = F_RDLCK}, wlock = {.l_type = F_WRLCK};
	struct sockaddr_storage a;
	socklen_t n;
	int x;
	on(SIGALRM, nothing, 0);
	signal(SIGPIPE, SIG_IGN);
	MUST(mkdir("dir", 0755));
	int in = MUST(open("source", O_RDWR | O_CREAT, 0600)), null = MUST(open("/dev/null", O_RDWR)), set = MUST(epoll_create1(0));
	MUST(write(in, "source of ten", 13));
	int p[2];
	MUST(pipe(p));
	MUST(write(p[1], b, 8192));
	int here = MUST(open(".", O_RDONLY));
	char *volatile nowhere = (char *)8, *volatile none = NULL;
	struct sockaddr_in nobody = loopback(1);
	ALL(read(fd, b, 3));
	ALL(read(fd, b, 0));
	ALL(read(fd, none, 8));
	ALL(readv(fd, v, 2));
	TRY(readv(fd, v, 0));
	ALL(syscall(SYS_readv, fd, v, -1));
	ALL(pread(fd, b, 3, 0));
	ALL(pread(fd, b, 3, -1));
	ALL(pread(fd, b, 0, 0));
	ALL(preadv(fd, v, 2, 1));
	ALL(preadv(fd, v, 2, -1));
	ALL(syscall(SYS_preadv2, fd, v, 2, -1, 0, 0x8000));
	ALL(write(fd, "abcdefgh", 8));
	ALL(write(fd, b, 0));
	ALL(write(fd, nowhere, 8));
	ALL(writev(fd, v, 2));
	ALL(writev(fd, v, 0));
	ALL(pwrite(fd, b, 3, 0));
	ALL(pwrite(fd, b, 3, -1));
	ALL(pwrite(fd, b, 0, 0));
	ALL(pwritev(fd, v, 2, 1));
	ALL(syscall(SYS_pwritev2, fd, v, 2, -1, 0, RWF_APPEND));
	ALL(lseek(fd, 0, SEEK_SET));
	ALL(lseek(fd, 1, SEEK_CUR));
	ALL(lseek(fd, 0, SEEK_DATA));
	ALL(lseek(fd, 0, SEEK_HOLE));
	ALL(lseek(fd, 0, 7));
	TRY(ftruncate(fd, 5));
	TRY(ftruncate(fd, -1));
	TRY(fallocate(fd, 0, 0, 8));
	TRY(fallocate(fd, 0, 0, 0));
	TRY(fallocate(fd, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 0, 4));
	TRY(fallocate(fd, FALLOC_FL_ZERO_RANGE, 0, 4));
	TRY(fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, 4096));
	TRY(fallocate(fd, FALLOC_FL_PUNCH_HOLE, 0, 4));
	TRY(posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED));
	TRY(posix_fadvise(fd, 0, 0, 77));
	TRY(readahead(fd, 0, 10));
	TRY(fsync(fd));
	TRY(fdatasync(fd));
	TRY(sync_file_range(fd, 0, 0, 0));
	TRY(sync_file_range(fd, 0, 0, 99));
	TRY(syncfs(fd));
	TRY(fchdir(fd) < 0 ? -1 : fchdir(here));
	TRY(device(kind) ? 0 : fchmod(fd, 0600));
	TRY(device(kind) ? 0 : fchown(fd, -1, -1));
	TRY(device(kind) ? 0 : futimens(fd, NULL));
	TRY(fstatfs(fd, &sf));
	TRY(fstat(fd, &st) < 0 ? -1 : (long)(st.st_mode & S_IFMT));
	TRY(directory(kind) || terminal(kind) ? 0 : fstat(fd, &st) < 0 ? -1 : (long)(st.st_mode & 0777));
	TRY(directory(kind) ? 0 : fstat(fd, &st) < 0 ? -1 : (long)st.st_nlink);
	TRY(directory(kind) ? 0 : fstat(fd, &st) < 0 ? -1 : (long)st.st_size);
	TRY(terminal(kind) ? 0 : fstat(fd, &st) < 0 ? -1 : (long)st.st_blksize);
	TRY(fstatat(fd, "", &st, AT_EMPTY_PATH));
	TRY(fstatat(fd, "x", &st, 0));
	TRY(openat(fd, "x", O_RDONLY));
	TRY(mkdirat(fd, "x/y", 0700));
	TRY(faccessat(fd, "", R_OK, AT_EMPTY_PATH));
	TRY(kind == MEMFD ? 0 : fgetxattr(fd, "user.x", b, 10));
	TRY(fgetxattr(fd, "x", b, 10));
	TRY(flistxattr(fd, b, 0) >= 0 ? 0 : -1);
	TRY(device(kind) || kind == MEMFD ? 0 : fsetxattr(fd, "user.x", "1", 1, 0));
	TRY(flock(fd, LOCK_SH | LOCK_NB));
	TRY(flock(fd, LOCK_EX | LOCK_NB));
	TRY(flock(fd, 77));
	TRY(fcntl(fd, F_SETLK, &lock));
	TRY(fcntl(fd, F_SETLK, &wlock));
	TRY(fcntl(fd, F_OFD_SETLK, &wlock));
	TRY(fcntl(fd, F_GETLK, &wlock));
	wlock.l_type = F_WRLCK;
	TRY(fcntl(fd, F_GETFD));
	TRY(fcntl(fd, F_SETFD, 1));
	TRY(fcntl(fd, F_GETFL));
	TRY(fcntl(fd, F_SETFL, O_NONBLOCK | O_APPEND) < 0 ? -1 : fcntl(fd, F_GETFL));
	TRY(terminal(kind) ? 0 : fcntl(fd, F_SETFL, O_ASYNC) < 0 ? -1 : fcntl(fd, F_GETFL));
	TRY(fcntl(fd, F_SETFL, O_DIRECT) < 0 ? -1 : fcntl(fd, F_GETFL));
	TRY(fcntl(fd, F_GETOWN));
	TRY(fcntl(fd, F_SETOWN, getpid()));
	TRY(fcntl(fd, F_GETSIG));
	TRY(fcntl(fd, F_SETSIG, 99));
	TRY(fcntl(fd, F_GETPIPE_SZ));
	TRY(fcntl(fd, F_SETPIPE_SZ, 4096));
	TRY(fcntl(fd, F_GET_SEALS));
	TRY(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW));
	TRY(fcntl(fd, F_GETLEASE));
	TRY(kind == MEMFD ? 0 : fcntl(fd, F_SETLEASE, F_RDLCK));
	TRY(fcntl(fd, F_SETLEASE, 77));
	TRY(fcntl(fd, F_NOTIFY, DN_MODIFY));
	TRY(fcntl(fd, F_GET_RW_HINT, b));
	TRY(fcntl(fd, 7777));
	TRY(fcntl(fd, F_DUPFD, 1000000000));
	TRY((x = dup(fd)) < 0 ? -1 : close(x));
	TRY(dup2(fd, fd) < 0 ? -1 : 0);
	TRY(dup3(fd, fd, 0));
	TRY(dup3(fd, 59, 99));
	TRY(ioctl(fd, FIONREAD, &x));
	TRY(x = 1, ioctl(fd, FIONBIO, &x));
	TRY(x = 1, terminal(kind) ? 0 : ioctl(fd, FIOASYNC, &x));
	TRY(ioctl(fd, FIOCLEX));
	TRY(kind == EPOLL ? 0 : ioctl(fd, FIOQSIZE, b));
	TRY(ioctl(fd, TCGETS, b));
	TRY(ioctl(fd, TIOCGWINSZ, b));
	TRY(ioctl(fd, TIOCGPGRP, &x));
	TRY(ioctl(fd, TIOCOUTQ, &x));
	TRY(ioctl(fd, 0x8903, &x)); // FIOGETOWN
	TRY(ioctl(fd, 0x8912, b)); // SIOCGIFCONF
	TRY(ioctl(fd, 0x1234, b));
	TRY(syscall(SYS_getdents64, fd, b, 8));
	TRY(syscall(SYS_getdents64, fd, b, 8192) >= 0 ? 0 : -1);
	TRY(tcp(kind) ? 0 : mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED ? -1 : 0);
	TRY(tcp(kind) ? 0 : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
	TRY(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 1) == MAP_FAILED ? -1 : 0);
	TRY(sendfile(null, fd, NULL, 4));
	TRY(sendfile(fd, in, &(off_t){0}, 4));
	TRY(sendfile(fd, fd, NULL, 4));
	TRY(terminal(kind) || kind == DIRECTORY ? 0 : splice(fd, NULL, p[1], NULL, 2, SPLICE_F_NONBLOCK));
	TRY(kind == FULL ? 0 : splice(p[0], NULL, fd, NULL, 2, SPLICE_F_NONBLOCK));
	TRY(kind == FULL ? 0 : splice(p[0], NULL, fd, &(off_t){0}, 2, SPLICE_F_NONBLOCK));
	TRY(splice(fd, NULL, null, NULL, 2, SPLICE_F_NONBLOCK));
	TRY(splice(fd, NULL, fd, NULL, 2, SPLICE_F_NONBLOCK));
	TRY(tee(fd, p[1], 2, SPLICE_F_NONBLOCK));
	TRY(tee(p[0], fd, 2, SPLICE_F_NONBLOCK));
	TRY(vmsplice(fd, v, 1, SPLICE_F_NONBLOCK));
	TRY(copy_file_range(in, &(off_t){0}, fd, NULL, 4, 0));
	TRY(copy_file_range(fd, NULL, in, &(off_t){100}, 4, 0));
	TRY(copy_file_range(fd, NULL, fd, NULL, 4, 0));
	TRY(copy_file_range(in, &(off_t){0}, fd, NULL, 4, 9));
	TRY(epoll_ctl(set, EPOLL_CTL_ADD, fd, &(struct epoll_event){.events = EPOLLIN}));
	TRY(epoll_ctl(fd, EPOLL_CTL_ADD, p[0], &(struct epoll_event){.events = EPOLLIN}));
	TRY(epoll_ctl(set, EPOLL_CTL_MOD, fd, &(struct epoll_event){.events = EPOLLIN}));
	TRY(epoll_wait(fd, (void *)b, 1, 0));
	TRY(poll(&(struct pollfd){.fd = fd, .events = POLLIN | POLLOUT | POLLRDHUP | POLLPRI}, 1, 0));
	struct pollfd f;
	TRY((f = (struct pollfd){.fd = fd, .events = -1}, poll(&f, 1, 0) < 0 ? -1 : f.revents));
	TRY(selected(fd));
	TRY(recv(fd, b, 3, 0));
	TRY(recv(fd, b, 3, MSG_DONTWAIT));
	TRY(recv(fd, b, 3, MSG_DONTWAIT | MSG_OOB));
	TRY(recv(fd, b, 3, MSG_DONTWAIT | MSG_ERRQUEUE));
	TRY(recv(fd, b, 3, MSG_DONTWAIT | MSG_PEEK | MSG_TRUNC));
	TRY(recvmsg(fd, &(struct msghdr){.msg_iov = v, .msg_iovlen = 2}, MSG_WAITALL));
	TRY(recvmsg(fd, NULL, 0));
	TRY(recvmsg(fd, &(struct msghdr){.msg_iov = v, .msg_iovlen = 5000}, 0));
	TRY(send(fd, b, 3, 0));
	TRY(send(fd, b, 0, MSG_DONTWAIT));
	TRY(sendto(fd, b, 3, MSG_DONTWAIT, (struct sockaddr *)&nobody, sizeof nobody));
	TRY(sendto(fd, b, 3, MSG_DONTWAIT, (struct sockaddr *)&nobody, 1));
	TRY(sendmsg(fd, &(struct msghdr){.msg_iov = v, .msg_iovlen = 2}, MSG_DONTWAIT));
	TRY(sendmsg(fd, &(struct msghdr){.msg_iov = v, .msg_iovlen = 2, .msg_control = b, .msg_controllen = 4}, MSG_DONTWAIT));
	TRY(sendmmsg(fd, (struct mmsghdr[]){{{.msg_iov = v, .msg_iovlen = 1}}, {{.msg_iov = v, .msg_iovlen = 1}}}, 2, MSG_DONTWAIT));
	TRY(recvmmsg(fd, (struct mmsghdr[]){{{.msg_iov = v, .msg_iovlen = 1}}, {{.msg_iov = v, .msg_iovlen = 1}}}, 2, MSG_DONTWAIT, NULL));
	TRY((n = sizeof a, getsockname(fd, (struct sockaddr *)&a, &n) < 0 ? -1 : (long)n));
	TRY((n = sizeof a, getpeername(fd, (struct sockaddr *)&a, &n) < 0 ? -1 : (long)n));
	TRY((n = -1, getsockname(fd, (struct sockaddr *)&a, &n) < 0 ? -1 : (long)n));
	TRY(shutdown(fd, SHUT_RD));
	TRY(shutdown(fd, SHUT_WR));
	TRY(shutdown(fd, 9));
	TRY(listen(fd, 1));
	TRY(accept(fd, NULL, NULL));
	TRY(accept4(fd, NULL, NULL, 99));
	TRY(bind(fd, (struct sockaddr *)&nobody, 1));
	TRY(bind(fd, (struct sockaddr *)&(struct sockaddr_in){.sin_family = AF_INET}, 16));
	TRY(connect(fd, (struct sockaddr *)&nobody, sizeof nobody));
	TRY(connect(fd, (struct sockaddr *)&nobody, 1));
	TRY(connect(fd, &(struct sockaddr){.sa_family = AF_UNSPEC}, sizeof(struct sockaddr)));
	TRY(timerfd_gettime(fd, (void *)b));
	TRY(timerfd_settime(fd, 0, &(struct itimerspec){0}, NULL));
	TRY(signalfd(fd, &(sigset_t){0}, 0) < 0 ? -1 : 0);
	TRY(inotify_add_watch(fd, "dir", IN_CREATE));
	TRY(inotify_rm_watch(fd, 1));
	TRY(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
	TRY(syscall(SYS_pidfd_getfd, fd, 0, 0) < 0 ? -1 : 0);
	TRY(waitid(P_PIDFD, fd, NULL, WEXITED | WNOHANG));
	TRY(close_range(fd, fd, 0));
	TRY(fifo(kind) ? 0 : linkat(fd, "", AT_FDCWD, "dir/link", AT_EMPTY_PATH) < 0 ? -1 : unlink("dir/link"));
	TRY(unlinkat(fd, "x", 0));
	TRY(readlinkat(fd, "", b, 100));
	static char path[64];
	TRY((sprintf(path, "/proc/self/fd/%d", fd), (x = open(path, O_RDONLY | O_NONBLOCK)) < 0 ? -1 : close(x)));
	TRY((sprintf(path, "/proc/self/fd/%d", fd), (x = open(path, O_RDWR | O_NONBLOCK)) < 0 ? -1 : close(x)));
	TRY((sprintf(path, "/proc/self/fd/%d", fd), stat(path, &st)));
	TRY((sprintf(path, "/proc/self/fd/%d", fd), device(kind) ? 0 : truncate(path, 2)));
	TRY((sprintf(path, "/proc/self/fd/%d", fd), device(kind) ? 0 : chmod(path, 0700)));
	TRY((sprintf(path, "/proc/self/fd/%d", fd), device(kind) ? 0 : utimensat(AT_FDCWD, path, NULL, 0)));
	TRY((sprintf(path, "/proc/self/fd/%d", fd), access(path, W_OK)));
	TRY((sprintf(path, "/proc/self/fd/%d", fd), lstat(path, &st) < 0 ? -1 : (long)st.st_mode & 0777));
	return 0;
}
