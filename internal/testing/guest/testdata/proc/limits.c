// Resource limits: set, read back, enforced.
#include "net.h"

int main(void)
{
	struct rlimit r, old;
	MUST(getrlimit(RLIMIT_NOFILE, &old));
	r = (struct rlimit){20, old.rlim_max < 100 ? old.rlim_max : 100};
	SHOW(setrlimit(RLIMIT_NOFILE, &r));
	SHOW(getrlimit(RLIMIT_NOFILE, &old));
	SHOW(old.rlim_cur);
	int n = 0;
	while (dup(1) >= 0)
		n++;
	printf("%s\n", errname(errno));
	SURE(n <= 17);
	SHOW(fcntl(1, F_DUPFD, 20));
	SHOW(dup2(1, 20));
	SHOW(dup2(1, 19));
	int p[2];
	SHOW(pipe(p));
	SHOW(socket(1, 1, 0));
	r.rlim_cur = 200;
	SHOW(setrlimit(RLIMIT_NOFILE, &r));
	SHOW(setrlimit(99, &r));
	SHOW(sysconf(_SC_OPEN_MAX));
	pid_t child = fork();
	if (child == 0) {
		getrlimit(RLIMIT_NOFILE, &r);
		_exit(r.rlim_cur);
	}
	show_wait("child", child);
	for (int i = 3; i < 20; i++)
		close(i);
	r = (struct rlimit){1000, 1000};
	SHOW(setrlimit(RLIMIT_FSIZE, &r));
	signal(SIGXFSZ, SIG_IGN);
	static char b[2000];
	int fd = MUST(open("file", O_RDWR | O_CREAT, 0600));
	SHOW(write(fd, b, 2000));
	SHOW(write(fd, b, 1));
	SHOW(ftruncate(fd, 1001));
	child = fork();
	if (child == 0) {
		signal(SIGXFSZ, SIG_DFL);
		write(fd, b, 1);
		_exit(0);
	}
	show_wait("too long a file", child);
	child = fork();
	if (child == 0) {
		struct rlimit little = {1 << 28, 1 << 28};
		setrlimit(RLIMIT_AS, &little);
		_exit(malloc(1 << 29) == NULL && errno == ENOMEM ? 0 : 1);
	}
	show_wait("too much memory", child);
	struct rlimit s;
	SHOW(prlimit(getpid(), RLIMIT_FSIZE, NULL, &s));
	SHOW(s.rlim_cur);
	SHOW(prlimit(999999, RLIMIT_FSIZE, NULL, &s));
	r = (struct rlimit){0, 0};
	SHOW(setrlimit(RLIMIT_CORE, &r));
}
