// A pseudoterminal in its two modes: what is typed is edited, echoed and read in lines.
#include "guest.h"
#include <termios.h>

static int master, slave;

static void quote(const char *what, const char *b, int n)
{
	printf("%s: ", what);
	for (int i = 0; i < n; i++)
		if (b[i] < ' ' || b[i] > '~')
			printf("\\x%02x", (unsigned char)b[i]);
		else
			putchar(b[i]);
	putchar('\n');
}

// settle waits for Linux to pass characters on.
static void take(const char *what, int fd)
{
	char b[999];
	struct pollfd p = {fd, POLLIN};
	if (poll(&p, 1, 60) > 0)
		nap(10);
	int n = read(fd, b, sizeof b);
	if (n < 0)
		printf("%s: %s\n", what, errname(errno));
	else
		quote(what, b, n);
}

static void type(const char *s)
{
	quote("typed", s, strlen(s));
	MUST(write(master, s, strlen(s)));
	take("seen", master);
	take("read", slave);
}

static void set(int lflag_off, int lflag_on, int iflag_on, int oflag_off)
{
	struct termios t;
	SHOW(tcgetattr(slave, &t));
	t.c_lflag = (t.c_lflag & ~lflag_off) | lflag_on;
	t.c_iflag |= iflag_on;
	t.c_oflag &= ~oflag_off;
	SHOW(tcsetattr(slave, TCSANOW, &t));
}

static void ready(void)
{
	struct pollfd p[2] = {{master, POLLIN | POLLOUT}, {slave, POLLIN | POLLOUT}};
	nap(60);
	poll(p, 2, 0);
	printf("master %s, slave %s\n", events(p[0].revents), events(p[1].revents));
}

int main(void)
{
	char name[99];
	struct termios t;
	struct winsize w = {24, 80};
	struct stat st, at;
	master = MUST(posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK));
	SHOW(grantpt(master));
	MUST(ptsname_r(master, name, sizeof name));
	printf("%d\n", strncmp(name, "/dev/pts/", 9));
	SHOW(open(name, O_RDWR | O_NOCTTY));
	SHOW(unlockpt(master));
	ready();
	slave = MUST(open(name, O_RDWR | O_NOCTTY | O_NONBLOCK));
	SHOW(isatty(slave));
	SHOW(isatty(master));
	SURE(!strcmp(ttyname(slave), name));
	SURE(!fstat(slave, &st) && !stat(name, &at) && st.st_ino == at.st_ino && st.st_rdev == at.st_rdev);
	SHOW(chmod(name, 0600));
	stat(name, &st);
	printf("mode %o\n", st.st_mode);
	SHOW(tcgetattr(slave, &t));
	printf("%x %x %x %x\n", t.c_iflag, t.c_oflag, t.c_cflag, t.c_lflag);
	quote("characters", (char *)t.c_cc, 17);
	SHOW(ioctl(slave, TIOCGWINSZ, &w));
	printf("%d %d\n", w.ws_row, w.ws_col);
	w = (struct winsize){24, 80};
	SHOW(ioctl(master, TIOCSWINSZ, &w));
	SHOW(ioctl(slave, TIOCGWINSZ, &w));
	printf("%d %d\n", w.ws_row, w.ws_col);
	SHOW(tcgetpgrp(slave));
	SHOW(open("/dev/tty", O_RDWR) >= 0 || errno == ENXIO);
	ready();
	take("nothing", slave);
	MUST(write(slave, "to the screen\n\tx\b\r", 18));
	take("shown", master);
	type("hello\n");
	type("half a line");
	type(" and\ttab\x7f\x7f\x7f\x7f\x7f its end\r");
	type("two words \x17\x17 erased\n");
	type("all of it\x15");
	type("new\x16\x03\x01\n");
	type("reprint\x12\n");
	type("end of\x04");
	type("\x04");
	type("one\ntwo\nthree");
	take("second", slave);
	type("\n");
	type("\x13");
	SHOW(write(slave, "held", 4));
	type("\x11");
	SHOW(write(slave, "free", 4));
	take("shown", master);
	type("part\x03");
	set(ECHO, 0, 0, 0);
	type("quiet\n");
	set(0, ECHONL, 0, 0);
	type("newline only\n");
	type("pending");
	set(ICANON | ISIG, 0, 0, ONLCR);
	take("raw", slave);
	type("x\x03\x7f\r");
	MUST(write(slave, "a\n", 2));
	take("shown", master);
	ready();
	char c;
	MUST(write(master, "abc", 3));
	nap(20);
	int n;
	SHOW(ioctl(slave, FIONREAD, &n));
	SHOW(n);
	SHOW(read(slave, &c, 1));
	SHOW(read(slave, &c, 1));
	SHOW(tcflush(slave, TCIFLUSH));
	take("flushed", slave);
	t.c_lflag &= ~ICANON;
	t.c_cc[VMIN] = 0;
	SHOW(tcsetattr(slave, TCSAFLUSH, &t));
	SHOW(read(slave, &c, 1));
	t.c_cc[VMIN] = 3;
	SHOW(tcsetattr(slave, TCSAFLUSH, &t));
	MUST(write(master, "ab", 2));
	nap(20);
	take("echo", master);
	ready();
	MUST(write(master, "c", 1));
	take("three", slave);
	SHOW(ioctl(master, TIOCGSID, &n));
	MUST(close(slave));
	take("last", master);
	take("closed", master);
	ready();
	slave = MUST(open(name, O_RDWR | O_NOCTTY | O_NONBLOCK));
	ready();
	MUST(close(master));
	take("hung up", slave);
	SHOW(write(slave, "x", 1));
	SHOW(tcgetattr(slave, &t));
	struct pollfd p = {slave, POLLIN | POLLOUT};
	poll(&p, 1, 0);
	printf("%s\n", events(p.revents));
	SHOW(open(name, O_RDWR));
}
