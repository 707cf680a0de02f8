// syncs acks|asks OP...: does to the files in its directory what the operations say, which the test knows by
// heart (syncs_test.go). It says so to others by a datagram, or, with acks, by a byte more of the file acked.
// syncs look FILE prints the files, as far as they are in its directory, and what was promised.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define SIZE 8192 // of the file that is there at first
#define must(call) must_(call, #call)

static long must_(long r, const char *what)
{
	if (r < 0) {
		perror(what);
		exit(1);
	}
	return r;
}

static char text[1 << 16];

static void say(const char *s) { strncat(text, s, sizeof text - strlen(text) - 1); }

// runs says of which runs of bytes a file consists.
static void runs(const char *path)
{
	static unsigned char b[1 << 16];
	char s[40];
	int fd = must(open(path, O_RDONLY)), n = must(read(fd, b, sizeof b));
	close(fd);
	for (int i = 0, k; i < n; i = k) {
		for (k = i; k < n && b[k] == b[i]; k++)
			;
		snprintf(s, sizeof s, "%c%d", b[i] ? b[i] : '0', k - i);
		say(s);
	}
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }
static int visible(const struct dirent *d) { return d->d_name[0] != '.' && strcmp(d->d_name, "acked"); }

static struct { ino_t ino; char path[32]; } known[64];
static int count;

static void list(const char *dir)
{
	struct dirent **names;
	int n = must(scandir(*dir ? dir : ".", &names, visible, by_name));
	for (int i = 0; i < n; i++) {
		char path[300];
		struct stat st;
		int k = 0;
		snprintf(path, sizeof path, "%s%s", dir, names[i]->d_name);
		must(lstat(path, &st));
		say(path);
		if (S_ISDIR(st.st_mode)) {
			strcat(path, "/");
			say("/ ");
			list(path);
			continue;
		}
		while (k < count && known[k].ino != st.st_ino)
			k++;
		if (say("="), k < count) {
			say("=");
			say(known[k].path);
		} else {
			known[count].ino = st.st_ino;
			snprintf(known[count++].path, 32, "%.31s", path);
			runs(path);
		}
		say(" ");
	}
}

static int look(const char *to)
{
	struct stat st;
	char s[40];
	if (!getenv("ARIADNE_BEGUN"))
		return 0;
	list("");
	if (to) {
		snprintf(s, sizeof s, "acks %d ", stat("acked", &st) ? 0 : (int)st.st_size);
		say(s);
	}
	for (char *p = getenv("ARIADNE_PROMISES"); *p; p++)
		if (*p == 'p')
			say("p");
	say("\n");
	int fd = to ? must(open(to, O_WRONLY | O_APPEND)) : 1;
	must(write(fd, text, strlen(text)));
	return 0;
}

static int plain[16], dsync[16], sync_[16], files;
static char *map;
static char letter = 'A';

static void opened(const char *path, int flags)
{
	plain[files] = must(open(path, O_RDWR | flags, 0644));
	dsync[files] = must(open(path, O_RDWR | O_DSYNC));
	sync_[files++] = must(open(path, O_RDWR | O_SYNC));
}

static void submit(int fd, char *b, int n, int at)
{
	aio_context_t ctx = 0;
	struct iocb write = {.aio_lio_opcode = IOCB_CMD_PWRITE, .aio_fildes = fd, .aio_buf = (long)b, .aio_nbytes = n, .aio_offset = at};
	struct iocb sync = {.aio_lio_opcode = IOCB_CMD_FDSYNC, .aio_fildes = fd}, *both[] = {&write, &sync};
	must(syscall(SYS_io_setup, 2, &ctx));
	must(syscall(SYS_io_submit, ctx, 2, both));
	must(syscall(SYS_io_destroy, ctx));
}

int main(int argc, char **argv)
{
	if (!strcmp(argv[1], "look"))
		return look(argc > 2 ? argv[2] : 0);
	int acked = argv[1][1] == 'c' ? must(open("acked", O_CREAT | O_WRONLY | O_APPEND, 0644)) : -1, promises = 0;
	int root = must(open(".", O_RDONLY | O_DIRECTORY)), sub = must(open("d", O_RDONLY | O_DIRECTORY));
	int s = must(socket(AF_INET, SOCK_DGRAM, 0)), device = open("/dev/ariadne", O_WRONLY);
	struct sockaddr_in to = {AF_INET, htons(7000)};
	inet_pton(AF_INET, "10.0.0.2", &to.sin_addr);
	opened("a", 0);
	for (int i = 2; i < argc; i++) {
		char *from = argv[i] + (argv[i][1] ? 2 : 1), *other = strchr(from, ':'), b[SIZE], line[40];
		int n = atoi(from), at = 0, len = 0;
		if (other)
			*other++ = 0;
		if (strchr("wyYvit", argv[i][0])) {
			sscanf(other, "%d:%d", &at, &len);
			memset(b, letter++, sizeof b);
		}
		switch (argv[i][0]) {
		case '.': usleep(1000); break;
		case 'm':
			if (acked >= 0)
				must(write(acked, "x", 1));
			else
				must(sendto(s, "ack", 3, 0, (struct sockaddr *)&to, sizeof to));
			break;
		case 'p':
			snprintf(line, sizeof line, "promise p%d", ++promises);
			must(write(device, line, strlen(line)));
			break;
		case 'w': must(pwrite(plain[n], b, len, at)); break;
		case 'y': must(pwrite(dsync[n], b, len, at)); break;
		case 'Y': must(pwrite(sync_[n], b, len, at)); break;
		case 'v': must(pwritev2(plain[n], &(struct iovec){b, len}, 1, at, RWF_DSYNC)); break;
		case 'i': submit(plain[n], b, len, at); break;
		case 't':
			if (!map)
				map = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, plain[0], 0);
			memset(map + at, b[0], len);
			break;
		case 'n': if (map) must(msync(map, SIZE, MS_SYNC)); break;
		case 'c': opened(from, O_CREAT | O_EXCL); break;
		case 'u': must(unlink(from)); break;
		case 'r': must(rename(from, other)); break;
		case 'l': must(link(from, other)); break;
		case 'f': must(fsync(plain[n])); break;
		case 'd': must(fdatasync(plain[n])); break;
		case 'g': must(sync_file_range(plain[n], 0, 0, 7)); break;
		case 's': sync(); break;
		case 'S': must(syncfs(root)); break;
		case 'D': must(fsync(root)); break;
		case 'E': must(fdatasync(sub)); break;
		}
	}
	for (;;)
		pause();
}
