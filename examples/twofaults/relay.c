// Readings that two edges forward to a hub, over UDP.
//
//	relay edge NUMBER
//	relay hub [careless]
//	relay client
//
// An edge acknowledges a reading when it is on its own disk, and forwards it. The hub appends it
// to its journal, syncs that and acknowledges it, and the edge forgets it. What has
// gathered while the hub was away goes to it at once. A careless hub appends these and does
// not sync them: "they come from a disk". The edge forgets them all the same.
//
// In the end the hub must have all readings that the edges do not have any more.
#include "udp.h"
#include <fcntl.h>

enum { READINGS = 30, MOST = 200, AGAIN = 250, BEAT = 200, PAUSE = 70 };

static int numbers[MOST], many; // what an edge or the hub has

static int has(int number)
{
	for (int i = 0; i < many; i++)
		if (numbers[i] == number)
			return 1;
	return 0;
}

static void load(const char *name)
{
	FILE *f = fopen(name, "r");
	if (!f)
		return;
	for (char line[50]; many < MOST && fgets(line, sizeof line, f);)
		if (strchr(line, '\n'))
			numbers[many++] = atoi(line);
	fclose(f);
}

static void sync_directory(void)
{
	int d = open(".", O_RDONLY);
	if (d < 0 || fsync(d) < 0)
		fail("directory: %s", strerror(errno));
	close(d);
}

static void save_pending(void)
{
	FILE *f = fopen("pending.new", "w");
	if (!f)
		fail("pending: %s", strerror(errno));
	for (int i = 0; i < many; i++)
		fprintf(f, "%d\n", numbers[i]);
	if (fflush(f) || fsync(fileno(f)) || fclose(f) || rename("pending.new", "pending"))
		fail("pending: %s", strerror(errno));
	sync_directory();
}

static void forget(int number)
{
	int left = 0;
	for (int i = 0; i < many; i++)
		if (numbers[i] != number)
			numbers[left++] = numbers[i];
	many = left;
}

// forward sends what is pending: one reading, or all of them.
static void forward(struct sockaddr_in hub)
{
	char text[180] = "";
	int n = 0;
	for (int i = 0; i < many && n < 150; i++)
		n += snprintf(text + n, sizeof text - n, " %d", numbers[i]);
	if (many)
		say(hub, many == 1 ? "one%s" : "batch%s", text);
}

static void edge(void)
{
	struct sockaddr_in hub = node("hub"), from;
	long due = now() + AGAIN;
	char line[200];
	load("pending");
	for (;;) {
		int number;
		if (!hear(line, &from, due)) {
			due = now() + AGAIN;
			forward(hub);
		} else if (sscanf(line, "reading %d", &number) == 1) {
			if (!has(number)) {
				numbers[many++] = number;
				save_pending();
			}
			say(from, "kept %d", number);
			if (many == 1)
				forward(hub);
		} else if (!strncmp(line, "have", 4)) {
			for (char *p = line + 4, *end; (number = strtol(p, &end, 10)), end != p; p = end)
				forget(number);
			save_pending();
		} else if (!strncmp(line, "left", 4)) {
			say(from, "pending %d", many);
		}
	}
}

static void hub(int careless)
{
	struct sockaddr_in from, client = node("client");
	long due = now() + BEAT;
	char line[200], text[200];
	int fd = open("journal", O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (fd < 0)
		fail("journal: %s", strerror(errno));
	sync_directory();
	load("journal");
	// What was torn by a loss of power ends here.
	int n = 0;
	for (int i = 0; i < many; i++)
		n += snprintf(text, sizeof text, "%d\n", numbers[i]);
	if (ftruncate(fd, n))
		fail("journal: %s", strerror(errno));
	printf("hub has %d\n", many);
	for (;;) {
		int batch, number;
		if (!hear(line, &from, due)) {
			due = now() + BEAT;
			say(client, "hub %d", many);
		} else if ((batch = !strncmp(line, "batch", 5)) || !strncmp(line, "one", 3)) {
			n = 0;
			for (char *p = strchr(line, ' '), *end; (number = strtol(p, &end, 10)), end != p; p = end)
				if (!has(number)) {
					numbers[many++] = number;
					n += snprintf(text + n, sizeof text - n, "%d\n", number);
				}
			if (n && write(fd, text, n) != n)
				fail("journal: %s", strerror(errno));
			if (!(batch && careless) && fsync(fd))
				fail("journal: %s", strerror(errno));
			say(from, "have%s", strchr(line, ' '));
		} else if (sscanf(line, "find %d", &number) == 1) {
			say(from, "%s %d", has(number) ? "found" : "missing", number);
		}
	}
}

// ask repeats a question until a node gives an answer of the form, and returns its number.
static int ask(const char *name, const char *question, int number, const char *form, const char *other)
{
	struct sockaddr_in to = node(name), from;
	char line[200];
	int n;
	for (;;) {
		say(to, question, number);
		for (long until = now() + 300; hear(line, &from, until);) {
			if (from.sin_addr.s_addr != to.sin_addr.s_addr)
				continue;
			if (sscanf(line, form, &n) == 1 && (number < 0 || n == number))
				return n;
			if (other && sscanf(line, other, &n) == 1 && n == number)
				return -1;
		}
	}
}

static void client(void)
{
	const char *edges[] = {"edge1", "edge2"};
	for (int i = 1; i <= READINGS; i++) {
		ask(edges[i % 2], "reading %d", i, "kept %d", NULL);
		usleep(PAUSE * 1000);
	}
	for (int i = 0; i < 2; i++)
		while (ask(edges[i], "left", -1, "pending %d", NULL))
			usleep(200000);
	for (int i = 1; i <= READINGS; i++)
		if (ask("hub", "find %d", i, "found %d", "missing %d") < 0)
			fail("reading %d is not at the hub, and no edge has it", i);
	printf("the hub has all readings\n");
}

int main(int argc, char **argv)
{
	open_socket();
	if (argc > 1 && !strcmp(argv[1], "edge"))
		edge();
	else if (argc > 1 && !strcmp(argv[1], "hub"))
		hub(argc > 2);
	else
		client();
}
