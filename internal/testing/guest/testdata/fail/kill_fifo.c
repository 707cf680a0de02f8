// A named pipe whose other end was killed: the next one who opens it finds it empty.
#include "kill.h"

static void reads(void) { MUST(open("fifo", O_RDONLY | O_NONBLOCK)); }
static void writes(void)
{
	int f = MUST(open("fifo", O_RDWR));
	MUST(write(f, "lost", 4));
}

int main(void)
{
	char b[8];
	signal(SIGPIPE, SIG_IGN);
	MUST(mkfifo("fifo", 0600));
	SHOW(open("fifo", O_WRONLY | O_NONBLOCK));
	pid_t v = victim(reads);
	int w = MUST(open("fifo", O_WRONLY | O_NONBLOCK));
	SHOW(write(w, "one", 3));
	slay(v);
	SHOW(write(w, "two", 3));
	int r = MUST(open("fifo", O_RDONLY | O_NONBLOCK));
	SHOW(read(r, b, 8));
	SHOW(write(w, "three", 5));
	SHOW(read(r, b, 8));
	close(r);
	close(w);
	slay(victim(writes));
	r = MUST(open("fifo", O_RDONLY | O_NONBLOCK));
	SHOW(read(r, b, 8));
}
