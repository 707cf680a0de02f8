// A session with a controlling terminal: signals from its keys, jobs in the background,
// and its end.
#include "guest.h"
#include <termios.h>

static int master;
static char name[99];

static void key(const char *s)
{
	MUST(write(master, s, strlen(s)));
	nap(30);
}

static void reported(const char *what, pid_t pid)
{
	int st;
	MUST(waitpid(pid, &st, WUNTRACED | WCONTINUED));
	show_status(what, st);
}

static pid_t job(void (*f)(void), int foreground)
{
	pid_t pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		if (foreground) {
			signal(SIGTTOU, SIG_IGN);
			tcsetpgrp(0, getpid());
		}
		signal(SIGTTOU, SIG_DFL);
		f();
		_exit(0);
	}
	setpgid(pid, pid);
	nap(30);
	return pid;
}

static void sleeps(void) { pause(); }
static void reads(void)
{
	char b[9];
	int n = read(0, b, sizeof b);
	printf("read %d\n", n);
}
static void settings(void)
{
	struct termios t;
	tcgetattr(0, &t);
	SHOW(tcsetattr(0, TCSANOW, &t));
}

static void session(void)
{
	MUST(setsid());
	SHOW(open("/dev/tty", O_RDWR));
	int fd = MUST(open(name, O_RDWR));
	dup2(fd, 0);
	signal(SIGTTOU, SIG_IGN);
	SURE(tcgetpgrp(0) == getpid());
	SURE(tcgetsid(0) == getpid());
	SURE(open("/dev/tty", O_RDWR) >= 0);
	SHOW(tcsetpgrp(0, 999999));
	SHOW(tcsetpgrp(0, getppid()));
	pid_t a = job(sleeps, 1);
	SURE(tcgetpgrp(0) == a);
	key("\x1a");
	reported("after ^Z", a);
	kill(a, SIGCONT);
	reported("after SIGCONT", a);
	key("\x03");
	reported("after ^C", a);
	a = job(sleeps, 1);
	key("\x1c");
	int st;
	waitpid(a, &st, 0);
	printf("after ^\\: %s\n", sigabbrev_np(WTERMSIG(st)));
	tcsetpgrp(0, getpid());
	a = job(reads, 0);
	reported("reads in the background", a);
	tcsetpgrp(0, a);
	kill(-a, SIGCONT);
	reported("goes on", a);
	key("typed\n");
	reported("has read", a);
	tcsetpgrp(0, getpid());
	a = job(settings, 0);
	reported("settings in the background", a);
	tcsetpgrp(0, a);
	kill(-a, SIGCONT);
	reported("goes on", a);
	reported("has set", a);
	tcsetpgrp(0, getpid());
	struct winsize w = {10, 20};
	signal(SIGWINCH, nothing);
	sigset_t s;
	sigemptyset(&s);
	sigaddset(&s, SIGWINCH);
	sigprocmask(SIG_BLOCK, &s, NULL);
	ioctl(master, TIOCSWINSZ, &w);
	sigpending(&s);
	SURE(sigismember(&s, SIGWINCH));
}

int main(void)
{
	master = MUST(posix_openpt(O_RDWR | O_NOCTTY));
	MUST(unlockpt(master));
	MUST(ptsname_r(master, name, sizeof name));
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		session();
		_exit(0);
	}
	show_wait("session", pid);
	char b[999];
	while (read(master, b, sizeof b) > 0)
		;
	printf("master: %s\n", errname(errno));

	// A terminal outlives the leader of its session.
	master = MUST(posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK));
	MUST(unlockpt(master));
	MUST(ptsname_r(master, name, sizeof name));
	int slave = MUST(open(name, O_RDWR | O_NOCTTY | O_NONBLOCK));
	if ((pid = fork()) == 0) {
		setsid();
		MUST(ioctl(slave, TIOCSCTTY, 0));
		MUST(write(slave, "last words", 10));
		_exit(0);
	}
	show_wait("leader", pid);
	nap(30);
	struct pollfd p[2] = {{master, POLLIN | POLLOUT}, {slave, POLLIN | POLLOUT}};
	poll(p, 2, 0);
	printf("master %s, slave %s\n", events(p[0].revents), events(p[1].revents));
	SHOW(write(slave, "x", 1));
	SHOW(read(slave, b, sizeof b));
	SHOW(write(master, "x", 1));
	nap(60);
	SHOW(read(master, b, sizeof b));
	SHOW(read(master, b, sizeof b));
	int again = open(name, O_RDWR | O_NOCTTY) >= 0;
	SURE(again);
	SHOW(write(slave, "x", 1));
	close(slave);

	// The master's end hangs up the session.
	master = MUST(posix_openpt(O_RDWR | O_NOCTTY));
	MUST(unlockpt(master));
	MUST(ptsname_r(master, name, sizeof name));
	if ((pid = fork()) == 0) {
		close(master);
		setsid();
		MUST(open(name, O_RDWR));
		pause();
	}
	nap(50);
	close(master);
	show_wait("hung up", pid);
}
