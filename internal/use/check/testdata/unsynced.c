// unsynced PROGRAM GOOD: programs that say or show something before it is durable, in one step each. With a
// GOOD of 1 they have it written to the disk first (unsynced_test.go).
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PAGE 4096
#define must(call) must_(call, #call)

static long must_(long r, const char *what)
{
	if (r < 0) {
		perror(what);
		exit(1);
	}
	return r;
}

static int good, dir;

static void sync_if(int now, int fd)
{
	if (now)
		must(fsync(fd));
}

static void fill(int fd, char c, int n)
{
	char b[2 * PAGE];
	must(pwrite(fd, memset(b, c, n), n, 0));
}

// at binds a socket to the port that server and client have.
static int at(struct sockaddr_in *a)
{
	int s = must(socket(AF_INET, SOCK_DGRAM, 0));
	*a = (struct sockaddr_in){AF_INET, htons(7000)};
	must(bind(s, (struct sockaddr *)a, sizeof *a));
	return s;
}

// serve stores what it is sent, and says so.
static void serve(void (*store)(void), void (*keep)(void))
{
	struct sockaddr_in a;
	socklen_t n = sizeof a;
	char b[8];
	int s = at(&a);
	for (;;) {
		must(recvfrom(s, b, sizeof b, 0, (struct sockaddr *)&a, &n));
		store();
		if (good)
			keep();
		must(sendto(s, "ok", 2, 0, (struct sockaddr *)&a, n));
		if (!good)
			keep();
	}
}

// client asks the server once, and writes down when it has an answer.
static void client(void)
{
	struct sockaddr_in a;
	struct timeval second = {1};
	char b[8];
	int s = at(&a);
	must(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second));
	inet_pton(AF_INET, "10.0.0.1", &a.sin_addr);
	must(sendto(s, "put", 3, 0, (struct sockaddr *)&a, sizeof a));
	if (recv(s, b, sizeof b, 0) > 0)
		close(must(creat("acked", 0644)));
}

static int file;
static void put(void) { fill(file, 'x', 1); }
static void put_synced(void) { must(fsync(file)); }
static void name(void) { must(rename("old", "data")); }
static void name_synced(void) { must(fsync(dir)); }

// replace puts a new file into the place of data.
static void replace(void)
{
	int fd = must(open("new", O_CREAT | O_EXCL | O_WRONLY, 0644));
	fill(fd, 'n', PAGE);
	sync_if(good, fd);
	must(rename("new", "data"));
	sync_if(!good, fd);
	must(fsync(dir));
}

// torn writes two pages of data with O_DSYNC, or only one.
static void torn(void)
{
	fill(must(open("data", O_WRONLY | O_DSYNC)), 'n', good ? PAGE : 2 * PAGE);
	int fd = must(open("other", O_CREAT | O_WRONLY, 0644)); // it shows whether the step goes on
	must(fsync(fd));
}

int main(int argc, char **argv)
{
	const char *program = argv[1];
	good = argc > 2 && argv[2][0] == '1';
	dir = must(open(".", O_RDONLY | O_DIRECTORY));
	if (!strcmp(program, "client"))
		client();
	if (!strcmp(program, "write")) {
		file = must(open("data", O_RDWR));
		serve(put, put_synced);
	}
	if (!strcmp(program, "rename"))
		serve(name, name_synced);
	if (!strcmp(program, "replace"))
		replace();
	if (!strcmp(program, "torn"))
		torn();
	return 0;
}
