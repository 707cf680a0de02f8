// A terminal whose master was killed hangs up: its session gets SIGHUP, reading ends, writing fails.
#include "kill.h"
#include <pty.h>
#include <termios.h>

static int m, s;

static void act(void) { close(s); }

int main(void)
{
	char b[8];
	MUST(m = posix_openpt(O_RDWR | O_NOCTTY));
	MUST(grantpt(m));
	MUST(unlockpt(m));
	s = MUST(open(ptsname(m), O_RDWR | O_NOCTTY));
	pid_t v = victim(act);
	close(m);
	pid_t c = MUST(fork());
	if (!c) {
		sigset_t hup;
		sigemptyset(&hup);
		sigaddset(&hup, SIGHUP);
		MUST(sigprocmask(SIG_BLOCK, &hup, NULL));
		MUST(setsid());
		MUST(ioctl(s, TIOCSCTTY, 0));
		SHOW(sigwaitinfo(&hup, NULL));
		nap(20);
		SHOW(read(s, b, 8));
		SHOW(read(s, b, 8));
		SHOW(write(s, "x", 1));
		struct termios t;
		SHOW(tcgetattr(s, &t));
		SHOW(open("/dev/tty", O_RDWR));
		_exit(0);
	}
	rest(c);
	MUST(kill(v, SIGKILL));
	show_wait("who has the terminal", c);
	show_wait("the victim", v);
}
