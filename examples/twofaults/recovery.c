// Three accounts on three servers, over UDP.
//
//	recovery server [careless] NEXT
//	recovery client SERVER...
//
// A server writes each amount to its log. After some of them it makes a checkpoint: it begins a new
// log, replaces the file "checkpoint", which names the log that goes on from there, and
// removes the old one. A server that starts reads the checkpoint and does again what is
// in its log, and makes a checkpoint of that. A careless one saves that work: it
// replaces the checkpoint, which names the same log, and empties the log. When it is killed
// between the two, the next start does all of the log a second time.
//
// The client adds to the accounts in turn. Each answer has the sum, which must be right.
#include "udp.h"
#include <fcntl.h>
#include <sys/stat.h>

enum { EVERY = 5, BEAT = 200, ADDS = 30, PAUSE = 80 };

static int generation, logged, fd = -1;
static long count, sum;

static char *log_name(int g)
{
	static char name[20];
	snprintf(name, sizeof name, "log.%d", g);
	return name;
}

static void save_checkpoint(void)
{
	char text[100];
	int n = snprintf(text, sizeof text, "%d %ld %ld\n", generation, count, sum);
	int f = open("checkpoint.new", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (f < 0 || write(f, text, n) != n || fsync(f) < 0 || close(f) < 0 || rename("checkpoint.new", "checkpoint") < 0)
		fail("checkpoint: %s", strerror(errno));
	logged = 0;
}

static void make_checkpoint(void)
{
	int f = open(log_name(generation + 1), O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0644);
	if (f < 0)
		fail("log: %s", strerror(errno));
	generation++;
	save_checkpoint();
	unlink(log_name(generation - 1));
	close(fd);
	fd = f;
}

static void recover(int careless)
{
	FILE *f = fopen("checkpoint", "r");
	if (f) {
		if (fscanf(f, "%d %ld %ld", &generation, &count, &sum) != 3)
			fail("no checkpoint in the file");
		fclose(f);
	}
	fd = open(log_name(generation), O_RDWR | O_CREAT | O_APPEND, 0644);
	f = fopen(log_name(generation), "r");
	if (fd < 0 || !f)
		fail("log: %s", strerror(errno));
	for (long amount; fscanf(f, "%ld\n", &amount) == 1; logged++) {
		count++;
		sum += amount;
	}
	fclose(f);
	printf("starts with %ld, %d of them from the log\n", count, logged);
	if (!logged)
		return;
	if (!careless) {
		make_checkpoint();
	} else {
		save_checkpoint();
		if (ftruncate(fd, 0) < 0)
			fail("log: %s", strerror(errno));
	}
}

static void add(long amount)
{
	char text[30];
	int n = snprintf(text, sizeof text, "%ld\n", amount);
	if (write(fd, text, n) != n || fsync(fd) < 0)
		fail("log: %s", strerror(errno));
	count++;
	sum += amount;
	if (++logged == EVERY)
		make_checkpoint();
}

static void server(const char *next, int careless)
{
	struct sockaddr_in neighbour = node(next), from;
	long due = now(), number, amount;
	char line[200];
	recover(careless);
	for (;;) {
		if (!hear(line, &from, due)) {
			due = now() + BEAT;
			say(neighbour, "alive %ld", count);
		} else if (sscanf(line, "add %ld %ld", &number, &amount) == 2) {
			if (number == count + 1)
				add(amount);
			say(from, "added %ld %ld", number, sum);
		}
	}
}

static void client(char **names, int n)
{
	struct sockaddr_in from;
	long want[8] = {0}, number, have;
	char line[200];
	for (int i = 0; i < ADDS; i++) {
		struct sockaddr_in to = node(names[i % n]);
		long k = i / n + 1, done = 0;
		want[i % n] += k * k;
		while (!done) {
			say(to, "add %ld %ld", k, k * k);
			for (long until = now() + 300; !done && hear(line, &from, until);)
				done = sscanf(line, "added %ld %ld", &number, &have) == 2 && number == k && from.sin_addr.s_addr == to.sin_addr.s_addr;
		}
		if (have != want[i % n])
			fail("added %ld to %s, which has %ld", want[i % n], names[i % n], have);
		usleep(PAUSE * 1000);
	}
	printf("all sums are right\n");
}

int main(int argc, char **argv)
{
	open_socket();
	if (argc > 2 && !strcmp(argv[1], "server"))
		server(argv[argc - 1], argc > 3);
	else
		client(argv + 2, argc - 2);
}
