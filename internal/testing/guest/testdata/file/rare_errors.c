// guest: root
// Rare arguments of calls on descriptors and memory, and what they give.
#include "../guest.h"
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/vfs.h>

static void owners(void)
{
	int s[2], p[2], who = 0;
	struct f_owner_ex x = {F_OWNER_TID, 0};
	SURE(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
	SURE(pipe(p) == 0);
	SHOW(fcntl(s[0], F_SETSIG, 65));
	SHOW(fcntl(s[0], F_SETSIG, -1));
	SHOW(fcntl(s[0], F_SETSIG, 64));
	SHOW(fcntl(s[0], F_GETSIG));
	SHOW(fcntl(s[0], F_SETOWN, INT_MIN));
	x.pid = gettid();
	SHOW(fcntl(s[0], F_SETOWN_EX, &x));
	x.type = 7;
	SHOW(fcntl(s[0], F_GETOWN_EX, &x));
	printf("type %d, this thread: %d\n", x.type, x.pid == gettid());
	x.pid = -1;
	SHOW(fcntl(s[0], F_SETOWN_EX, &x));
	x.type = 3;
	SHOW(fcntl(s[0], F_SETOWN_EX, &x));
	who = -getpgrp();
	SHOW(ioctl(s[0], FIOSETOWN, &who));
	SHOW(fcntl(s[0], F_GETOWN_EX, &x));
	printf("type %d, this group: %d\n", x.type, x.pid == getpgrp());
	who = INT_MIN;
	SHOW(ioctl(s[0], SIOCSPGRP, &who));
	who = 1 << 30;
	SHOW(ioctl(s[0], SIOCSPGRP, &who));
	who = getpid();
	SHOW(ioctl(s[0], SIOCSPGRP, &who));
	who = 0;
	SHOW(ioctl(s[0], SIOCGPGRP, &who));
	printf("this process: %d\n", who == getpid());
	SHOW(ioctl(s[0], FIOGETOWN, &who));
	SHOW(ioctl(s[0], FIOGETOWN, NULL));
	SHOW(ioctl(p[0], FIOGETOWN, &who));
	SHOW(fcntl(p[0], F_SETOWN, getpid()));
	SHOW(ioctl(p[0], SIOCGPGRP, &who));
}

static void file_systems(void)
{
	int s[2], p[2];
	struct statfs f;
	SURE(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
	SURE(pipe(p) == 0);
	SHOW(fstatfs(p[0], &f));
	printf("%lx\n", (long)f.f_type);
	SHOW(fstatfs(s[0], &f));
	printf("%lx\n", (long)f.f_type);
}

static void directories(void)
{
	char *m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int n = 0, seen = 0;
	SURE(mkdir("d", 0700) == 0 && mprotect(m + 4096, 4096, PROT_NONE) == 0);
	for (int i = 0; i < 40; i++) {
		char name[32];
		sprintf(name, "d/a-file-with-a-name-%02d", i);
		if (mknod(name, S_IFREG | 0600, 0))
			perror(name);
	}
	int d = open("d", O_RDONLY | O_DIRECTORY);
	SHOW(syscall(SYS_getdents64, d, m, 0x80000000u));
	SHOW(syscall(SYS_getdents64, d, m, -1));
	SHOW(syscall(SYS_getdents64, d, m + 4096, 4096));
	do { // less fits before the end of the memory than the size says
		n = syscall(SYS_getdents64, d, m + 4096 - 200, 400);
		if (n < 0 || n > 200)
			printf("%d bytes\n", n);
		for (int at = 0; at < n; at += *(unsigned short *)(m + 4096 - 200 + at + 16))
			seen++;
	} while (n > 0);
	printf("%d entries\n", seen);
	SHOW(syscall(SYS_getdents64, d, m, -1));
	int proc = open("/proc", O_RDONLY | O_DIRECTORY);
	SHOW(lseek(proc, 0, SEEK_END));
	SHOW(lseek(proc, -1, SEEK_END));
}

// Messages are whole, however large.
static void messages(int type)
{
	int s[2], size = 3 << 20, got;
	char *b = malloc(size);
	SURE(socketpair(AF_UNIX, type, 0, s) == 0);
	setsockopt(s[0], SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size);
	socklen_t len = sizeof got;
	SHOW(getsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &got, &len));
	for (int n = 100 << 10; n <= size; n = n * 2 + 1) {
		printf("sent %zd, ", n % 2 ? write(s[0], b, n) : send(s[0], b, n, 0));
		printf("received %zd\n", recv(s[1], b, size, 0));
	}
	free(b);
}

static void others(void)
{
	int z[2];
	SURE(pipe(z) == 0);
	SHOW(sendfile(z[1], open("/etc/passwd", O_RDONLY), NULL, -1));
	struct rusage r;
	memset(&r, 1, sizeof r);
	SHOW(getrusage(RUSAGE_CHILDREN, &r));
	printf("%ld\n", r.ru_maxrss);
	SHOW(munmap((void *)4096, -4095));
	SHOW(mprotect((void *)4096, -1, PROT_READ));
	SHOW(madvise(NULL, -4095, MADV_DONTFORK));
	SHOW(syscall(SYS_ioprio_set, 1, 0, 1));
	int f = open("f", O_CREAT | O_RDWR, 0600), place = open("f", O_PATH);
	SURE(f >= 0);
	SHOW(fchownat(place, "", getuid(), getgid(), AT_EMPTY_PATH));
	SHOW(fchownat(place, "", -1, -1, AT_EMPTY_PATH));
	SHOW(fchown(place, -1, -1));
	SHOW(readahead(open("f", O_WRONLY), 0, 1));
}

int main(void)
{
	owners();
	file_systems();
	directories();
	messages(SOCK_DGRAM);
	messages(SOCK_SEQPACKET);
	others();
	return 0;
}
