// Leases: who may take one, what it becomes while others want the file, and who waits for whom.
#include "../guest.h"

static volatile sig_atomic_t told, code, from;

static void on_signal(int sig, siginfo_t *si, void *u)
{
	told = sig;
	code = si->si_code;
	from = si->si_fd;
}

// other makes calls in a child and shows them before the caller goes on.
#define OTHER(calls)                                \
	do {                                        \
		fflush(stdout);                     \
		pid_t p_ = fork();                  \
		if (p_ == 0) {                      \
			calls;                      \
			_exit(0);                   \
		}                                   \
		while (waitpid(p_, NULL, 0) < 0)    \
			; /* told of a lease */     \
	} while (0)

int main(void)
{
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
	sigaction(SIGRTMIN, &sa, NULL);
	int w = open("f", O_RDWR | O_CREAT, 0600);

	SHOW(fcntl(w, F_GETLEASE) == F_UNLCK);
	SHOW(fcntl(w, F_SETLEASE, F_UNLCK));
	SHOW(fcntl(w, F_SETLEASE, 77));
	SHOW(fcntl(w, F_SETLEASE, F_RDLCK));
	SHOW(fcntl(w, F_SETLEASE, F_WRLCK));
	SHOW(fcntl(w, F_GETLEASE) == F_WRLCK);
	SHOW(fcntl(w, F_SETLEASE, F_UNLCK));
	int r = open("f", O_RDONLY);
	SHOW(fcntl(r, F_SETLEASE, F_RDLCK));
	SHOW(fcntl(w, F_SETLEASE, F_WRLCK));
	close(w);
	SHOW(fcntl(r, F_SETLEASE, F_RDLCK));
	SHOW(fcntl(r, F_SETLEASE, F_WRLCK));
	SHOW(fcntl(r, F_GETOWN) == getpid());
	SHOW(fcntl(r, F_SETLEASE, F_RDLCK));
	int r2 = open("f", O_RDONLY);
	SHOW(fcntl(r, F_SETLEASE, F_WRLCK));
	SHOW(fcntl(r2, F_SETLEASE, F_RDLCK));
	SHOW(fcntl(r2, F_SETLEASE, F_UNLCK));
	close(r2);

	puts("a directory, a pipe");
	int d = open(".", O_RDONLY), p[2];
	pipe(p);
	SHOW(fcntl(d, F_SETLEASE, F_RDLCK));
	SHOW(fcntl(p[0], F_SETLEASE, F_RDLCK));
	SHOW(fcntl(p[0], F_GETLEASE) == F_UNLCK);

	puts("broken by an open that does not wait");
	SHOW(fcntl(r, F_SETLEASE, F_WRLCK));
	SHOW(fcntl(r, F_SETSIG, SIGRTMIN));
	OTHER(SHOW(open("f", O_RDONLY | O_NONBLOCK)));
	SHOW(told == SIGRTMIN && code == POLL_MSG && from == r);
	SHOW(fcntl(r, F_GETLEASE) == F_RDLCK);
	told = 0;
	OTHER(SHOW(open("f", O_RDONLY | O_NONBLOCK)));
	SHOW(told);
	OTHER(SHOW(open("f", O_WRONLY | O_NONBLOCK)));
	SHOW(told == SIGRTMIN);
	SHOW(fcntl(r, F_GETLEASE) == F_UNLCK);
	SHOW(fcntl(r, F_SETLEASE, F_RDLCK));
	SHOW(fcntl(r, F_SETLEASE, F_UNLCK));
	SHOW(fcntl(r, F_GETSIG));
	SHOW(fcntl(r, F_GETOWN));

	puts("one that waits");
	SHOW(fcntl(r, F_SETLEASE, F_RDLCK));
	fcntl(r, F_SETSIG, SIGRTMIN);
	sigset_t set, old;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, &old);
	OTHER(SHOW(open("f", O_RDONLY) > 0));
	pid_t child = fork();
	if (child == 0) {
		close(r);
		int fd = open("f", O_WRONLY);
		_exit(fd > 0 ? 7 : 1);
	}
	siginfo_t si;
	SHOW(sigwaitinfo(&set, &si) == SIGRTMIN);
	SHOW(waitpid(child, NULL, WNOHANG));
	SHOW(fcntl(r, F_SETLEASE, F_UNLCK));
	int status;
	waitpid(child, &status, 0);
	SHOW(WEXITSTATUS(status));

	puts("a truncation, and the end of the description");
	SHOW(fcntl(r, F_SETLEASE, F_RDLCK));
	fcntl(r, F_SETSIG, SIGRTMIN);
	child = fork();
	if (child == 0) {
		close(r);
		_exit(truncate("f", 3) == 0 ? 7 : 1);
	}
	SHOW(sigwaitinfo(&set, &si) == SIGRTMIN);
	close(r);
	waitpid(child, &status, 0);
	SHOW(WEXITSTATUS(status));
	unlink("f");
	return 0;
}
