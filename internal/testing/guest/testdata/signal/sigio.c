// O_ASYNC, FIOASYNC, F_SETOWN and F_SETSIG: signals about sockets and pipes.
#include "guest.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

static volatile sig_atomic_t signals, last_code, last_fd, last_band;

static void handler(int sig, siginfo_t *info, void *context)
{
	signals++;
	last_code = info->si_code;
	last_fd = sig == SIGIO ? -1 : info->si_fd;
	last_band = sig == SIGIO ? 0 : (int)info->si_band;
}

static void told(const char *what)
{
	printf("%s: %d signals, code %d, fd %d, band %#x\n", what, signals, last_code, last_fd, last_band);
	signals = last_code = last_band = 0;
	last_fd = -1;
}

int main(void)
{
	struct sigaction act = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
	int s[2], p[2], on = 1, off = 0;
	char b[8];

	SHOW(sigaction(SIGIO, &act, NULL));
	SHOW(sigaction(SIGRTMIN, &act, NULL));

	SHOW(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	SHOW(fcntl(s[0], F_SETFL, O_ASYNC | O_NONBLOCK));
	SHOW(!!(fcntl(s[0], F_GETFL) & O_ASYNC));
	SHOW(write(s[1], "a", 1));
	told("no owner");
	SHOW(fcntl(s[0], F_SETOWN, getpid()));
	SHOW(write(s[1], "b", 1));
	told("data");
	SHOW(fcntl(s[0], F_SETSIG, SIGRTMIN));
	SHOW(write(s[1], "c", 1));
	printf("same fd: %d\n", last_fd == s[0]);
	told("chosen signal");
	SHOW(ioctl(s[0], FIOASYNC, &off));
	SHOW(!!(fcntl(s[0], F_GETFL) & O_ASYNC));
	SHOW(write(s[1], "d", 1));
	told("switched off");
	SHOW(ioctl(s[0], FIOASYNC, &on));
	SHOW(!!(fcntl(s[0], F_GETFL) & O_ASYNC));
	SHOW(write(s[1], "e", 1));
	told("switched on");

	SHOW(pipe(p));
	SHOW(fcntl(p[0], F_SETOWN, getpid()));
	SHOW(fcntl(p[0], F_SETFL, O_ASYNC));
	SHOW(write(p[1], "a", 1));
	told("pipe");
	SHOW(read(p[0], b, sizeof b));
	told("read");

	int l = socket(AF_INET, SOCK_STREAM, 0), c = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof here;
	SHOW(bind(l, (struct sockaddr *)&here, sizeof here));
	SHOW(getsockname(l, (struct sockaddr *)&here, &n));
	SHOW(fcntl(l, F_SETOWN, getpid()));
	SHOW(ioctl(l, FIOASYNC, &on));
	SHOW(listen(l, 5));
	signals = 0;
	SHOW(connect(c, (struct sockaddr *)&here, sizeof here));
	printf("connection: %s\n", signals ? "signalled" : "silent");

	int f = open("/dev/null", O_RDONLY);
	SHOW(ioctl(f, FIOASYNC, &on));
	SHOW(ioctl(f, FIOASYNC, &off));
	return 0;
}
