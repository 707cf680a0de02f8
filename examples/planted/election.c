// A register on a primary and a backup, over UDP.
//
//	election primary [careless]
//	election backup
//	election client
//
// The primary sends the backup a heartbeat with the value every 100 ms, and another one at each
// write. When the backup has heard none for 750 ms, it takes over, and answers no heartbeat
// any more. The primary acknowledges a write when the backup has answered its heartbeat; a
// careless one does so at once. The client writes now and then, to the primary until the
// backup leads, and reads what it wrote.
#include "udp.h"

enum { BEAT = 100, DEAD = 750, WRITES = 6, PAUSE = 250 };

static void primary(int careless)
{
	struct sockaddr_in backup = node("backup"), from, writer = {0};
	long next = now(), value = 0, asked = 0;
	char line[200];
	for (;;) {
		if (!hear(line, &from, next)) {
			say(backup, "beat %ld", value);
			next += BEAT;
			continue;
		}
		long n;
		if (sscanf(line, "write %ld", &n) == 1) {
			writer = from;
			value = asked = n;
			say(backup, "beat %ld", value);
			if (careless)
				say(writer, "wrote %ld", n);
		} else if (sscanf(line, "alive %ld", &n) == 1 && n == asked && asked && !careless) {
			say(writer, "wrote %ld", n);
		}
	}
}

static void backup(void)
{
	struct sockaddr_in client = node("client"), from;
	long value = 0, last = now();
	int leads = 0;
	char line[200];
	for (;;) {
		if (!hear(line, &from, leads ? FOREVER : last + DEAD)) {
			leads = 1;
			printf("backup leads\n");
			say(client, "leads %ld", value);
			continue;
		}
		long n;
		if (sscanf(line, "beat %ld", &n) == 1 && !leads) {
			last = now();
			value = n > value ? n : value;
			say(from, "alive %ld", n);
		} else if (sscanf(line, "write %ld", &n) == 1 && leads) {
			value = n;
			say(from, "wrote %ld", n);
		}
	}
}

static void client(void)
{
	struct sockaddr_in leader = node("primary"), from;
	long written = 0, n;
	char line[200];
	usleep(50000);
	for (long i = 1; i <= WRITES; i++) {
		say(leader, "write %ld", i);
		long pause = now() + PAUSE;
		while (written < i || now() < pause) {
			// The primary may be deposed and never answer; the backup then says so.
			if (!hear(line, &from, written < i ? FOREVER : pause))
				continue;
			if (sscanf(line, "wrote %ld", &n) == 1 && n == i) {
				written = i;
			} else if (sscanf(line, "leads %ld", &n) == 1) {
				if (n < written)
					fail("wrote %ld, and the new leader has %ld", written, n);
				leader = from;
				if (written < i)
					say(leader, "write %ld", i);
			}
		}
	}
	printf("wrote %ld\n", written);
}

int main(int argc, char **argv)
{
	open_socket();
	if (argc > 1 && !strcmp(argv[1], "primary"))
		primary(argc > 2);
	else if (argc > 1 && !strcmp(argv[1], "backup"))
		backup();
	else
		client();
}
