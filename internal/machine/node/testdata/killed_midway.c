// A child makes calls that its parent sees, and is killed before one of them: by itself if there is
// an argument, else by somebody else, or not at all. The parent says what it has seen.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int left = -1;

// next is called before each call.
static void next(void) {
	if (left-- == 0)
		kill(getpid(), SIGKILL);
}

int main(int argc, char **argv) {
	int p[2], own[2], u[2], e = eventfd(0, EFD_NONBLOCK), q = msgget(IPC_PRIVATE, 0600), status, told = 0;
	if (pipe(p) || socketpair(AF_UNIX, SOCK_STREAM, 0, u))
		return 1;
	sigset_t usr;
	sigemptyset(&usr);
	sigaddset(&usr, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr, 0);
	pid_t child = fork();
	if (child == 0) {
		left = argc > 1 ? atoi(argv[1]) : -1;
		close(p[0]), close(u[0]);
		struct { long type; char text; } m = {1, 'm'};
		long one = 1;
		pipe(own);
		next(), write(p[1], "a", 1);
		write(own[1], "x", 1); // nobody sees that
		next(), write(p[1], "b", 1);
		next(), write(e, &one, sizeof one);
		next(), send(u[1], "u", 1, 0);
		next(), msgsnd(q, &m, 1, 0);
		next(), kill(getppid(), SIGUSR1);
		next(), exit(3);
	}
	close(p[1]), close(u[1]);
	char b[8] = "", c[8] = "";
	long count = 0;
	struct { long type; char text[8]; } m = {0};
	while (read(p[0], b + told, 1) == 1)
		told++;
	waitpid(child, &status, 0);
	read(e, &count, sizeof count);
	recv(u[0], c, 7, MSG_DONTWAIT);
	msgrcv(q, &m, 7, 0, IPC_NOWAIT);
	msgctl(q, IPC_RMID, 0);
	sigset_t pending;
	sigpending(&pending);
	printf("%s %ld %s %s %d %d\n", b, count, c, m.text, sigismember(&pending, SIGUSR1), status);
	return 0;
}
