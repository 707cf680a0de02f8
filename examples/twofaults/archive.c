// Values that a client keeps on three servers, over UDP.
//
//	archive server [careless] NEXT
//	archive client SERVER...
//
// A server appends each value to its file, a head with length and sum before the value, and
// acknowledges it when that is synced. When a call fails the server says so, and has
// the file end where it ended before. A careless one leaves it as it is, with a head and no
// value. It goes on well, until it starts again: it reads the file up to what is no record, and
// what was acknowledged later is lost.
//
// The client repeats what was not acknowledged. In the end each server must have all values.
#include "udp.h"
#include <fcntl.h>

enum { VALUES = 12, BEAT = 200, PAUSE = 150 };

struct head {
	unsigned number, length, sum;
};

static char values[VALUES + 1][40];
static int fd;

static unsigned sum_of(unsigned number, const char *value, unsigned length)
{
	unsigned sum = number * 31 + length;
	for (unsigned i = 0; i < length; i++)
		sum = sum * 31 + (unsigned char)value[i];
	return sum;
}

static void recover(void)
{
	struct head h;
	char value[40] = "";
	off_t end = 0;
	int many = 0;
	fd = open("archive", O_RDWR | O_CREAT, 0644);
	if (fd < 0)
		fail("archive: %s", strerror(errno));
	while (pread(fd, &h, sizeof h, end) == sizeof h && h.length < sizeof value && h.number <= VALUES &&
	       pread(fd, value, h.length, end + sizeof h) == (ssize_t)h.length && sum_of(h.number, value, h.length) == h.sum) {
		value[h.length] = 0;
		strcpy(values[h.number], value);
		end += sizeof h + h.length;
		many++;
	}
	printf("starts with %d records\n", many);
	if (ftruncate(fd, end) < 0 || lseek(fd, end, SEEK_SET) < 0)
		fail("archive: %s", strerror(errno));
}

static int append(unsigned number, const char *value, int careless)
{
	struct head h = {number, strlen(value), sum_of(number, value, strlen(value))};
	off_t was = lseek(fd, 0, SEEK_CUR);
	if (write(fd, &h, sizeof h) == sizeof h && write(fd, value, h.length) == (ssize_t)h.length && fsync(fd) == 0)
		return 1;
	printf("cannot append: %s\n", strerror(errno));
	if (!careless && (ftruncate(fd, was) < 0 || lseek(fd, was, SEEK_SET) < 0))
		abort(); // better no server than one that does not know its file
	return 0;
}

static void server(const char *next, int careless)
{
	struct sockaddr_in neighbour = node(next), from;
	long due = now();
	char line[200], value[40];
	unsigned number;
	recover();
	for (;;) {
		if (!hear(line, &from, due)) {
			due = now() + BEAT;
			say(neighbour, "alive");
		} else if (sscanf(line, "put %u %39s", &number, value) == 2 && number <= VALUES) {
			if (!strcmp(values[number], value) || append(number, value, careless)) {
				strcpy(values[number], value);
				say(from, "have %u", number);
			} else {
				say(from, "failed %u", number);
			}
		} else if (sscanf(line, "get %u", &number) == 1 && number <= VALUES) {
			say(from, "value %u %s", number, *values[number] ? values[number] : "-");
		}
	}
}

static void client(char **names, int n)
{
	struct sockaddr_in from;
	char line[200], value[40];
	unsigned number;
	for (unsigned i = 1; i <= VALUES; i++) {
		for (int k = 0; k < n; k++) {
			struct sockaddr_in to = node(names[k]);
			for (int done = 0; !done;) {
				say(to, "put %u value-%u", i, i * i);
				for (long until = now() + 250; !done && hear(line, &from, until);)
					done = sscanf(line, "have %u", &number) == 1 && number == i && from.sin_addr.s_addr == to.sin_addr.s_addr;
			}
		}
		usleep(PAUSE * 1000);
	}
	for (int k = 0; k < n; k++) {
		struct sockaddr_in to = node(names[k]);
		for (unsigned i = 1; i <= VALUES;) {
			char want[40];
			snprintf(want, sizeof want, "value-%u", i * i);
			say(to, "get %u", i);
			if (!hear(line, &from, now() + 250) || from.sin_addr.s_addr != to.sin_addr.s_addr ||
			    sscanf(line, "value %u %39s", &number, value) != 2 || number != i)
				continue;
			if (strcmp(value, want))
				fail("%s has %s in the place of %s", names[k], value, want);
			i++;
		}
	}
	printf("all have all values\n");
}

int main(int argc, char **argv)
{
	open_socket();
	if (argc > 2 && !strcmp(argv[1], "server"))
		server(argv[argc - 1], argc > 3);
	else
		client(argv + 2, argc - 2);
}
