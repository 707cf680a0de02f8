// The older ioctls for a terminal's settings, and a controlling terminal that is used through its master.
#include "guest.h"
#include <asm/ioctls.h>

struct new {
	unsigned iflag, oflag, cflag, lflag;
	unsigned char line, cc[19];
};

static void settings(int fd)
{
	struct termio o;
	struct new n;
	memset(&o, 0x55, sizeof o);
	MUST(ioctl(fd, TCGETA, &o));
	printf("%x %x %x %x %d", o.c_iflag, o.c_oflag, o.c_cflag, o.c_lflag, o.c_line);
	for (int i = 0; i < 8; i++)
		printf(" %d", o.c_cc[i]);
	MUST(ioctl(fd, TCGETS, &n));
	printf("; %x %x %x %x %d, %d %d\n", n.iflag, n.oflag, n.cflag, n.lflag, n.line, n.cc[7], n.cc[8]);
}

int main(void)
{
	int master = MUST(open("/dev/ptmx", O_RDWR | O_NOCTTY)), zero = 0;
	MUST(ioctl(master, TIOCSPTLCK, &zero));
	int slave = MUST(open(ptsname(master), O_RDWR | O_NOCTTY));
	struct termio o;
	struct new n;
	SHOW(ioctl(slave, TCGETA, NULL));
	SHOW(ioctl(slave, TCSETA, NULL));
	SHOW(ioctl(0, TCSETA + 99, NULL));
	settings(slave);
	MUST(ioctl(slave, TCGETS, &n));
	n.oflag |= 0x10000;
	n.cc[8] = 99;
	MUST(ioctl(slave, TCSETS, &n));
	MUST(ioctl(slave, TCGETA, &o));
	o.c_lflag &= ~(2 | 8); // no lines, no echo
	o.c_cc[4] = 3;
	SHOW(ioctl(slave, TCSETAW, &o));
	settings(slave);
	o.c_iflag = 0;
	SHOW(ioctl(master, TCSETAF, &o));
	settings(master);
	fflush(stdout);
	pid_t pid = MUST(fork());
	if (!pid) {
		SHOW(ioctl(master, TIOCSCTTY, 0));
		MUST(setsid());
		SHOW(ioctl(master, TIOCSCTTY, 0));
		SHOW(ioctl(master, TIOCSCTTY, 0));
		SURE(tcgetpgrp(master) == getpid());
		pid_t behind = MUST(fork());
		if (!behind) {
			MUST(setpgid(0, 0));
			// It prints nothing, since the shell beside it does.
			_exit(ioctl(master, TCSETA, &o) ? 1 : 7);
		}
		int st;
		MUST(waitpid(behind, &st, WUNTRACED));
		show_status("who is behind", st);
		signal(SIGTTOU, SIG_IGN);
		SHOW(tcsetpgrp(master, behind));
		SHOW(kill(behind, SIGCONT));
		MUST(waitpid(behind, &st, 0));
		show_status("it", st);
		SHOW(tcsetpgrp(master, getpid()));
		_exit(0);
	}
	show_wait("a session", pid);
	return 0;
}
