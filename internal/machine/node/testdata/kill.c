// A child that holds what a process can hold is killed; its parent says what it sees. With an
// argument the parent kills it itself, else somebody else does.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t code, status;

static void child_died(int s, siginfo_t *i, void *_) {
	code = i->si_code;
	status = i->si_status;
}

static void say(const char *what, long result) {
	printf("%s: %ld %s\n", what, result, result < 0 ? strerror(errno) : "");
	fflush(stdout);
}

int main(int argc, char **argv) {
	struct sigaction on_child = {.sa_sigaction = child_died, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigaction(SIGCHLD, &on_child, 0);
	signal(SIGPIPE, SIG_IGN);
	int ready[2], from[2], to[2], pair[2], c;
	char b[8];
	if (pipe(ready) || pipe(from) || pipe(to) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 1;
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof a;
	int l = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(l, (void *)&a, len) || listen(l, 5) || getsockname(l, (void *)&a, &len))
		return 1;
	int read_all = socket(AF_INET, SOCK_STREAM, 0), unread = socket(AF_INET, SOCK_STREAM, 0);
	pthread_mutex_t *m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t how;
	pthread_mutexattr_init(&how);
	pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(m, &how);
	pid_t child = fork();
	if (child == 0) {
		close(from[0]), close(to[1]), close(pair[0]), close(read_all), close(unread);
		int lock = open("lock", O_RDWR | O_CREAT, 0600);
		struct flock record = {.l_type = F_WRLCK};
		accept(l, 0, 0);
		accept(l, 0, 0);
		close(l);
		pthread_mutex_lock(m);
		if (lock < 0 || flock(lock, LOCK_EX) || fcntl(lock, F_SETLK, &record) || write(ready[1], "x", 1) != 1)
			return 1;
		for (;;)
			pause();
	}
	close(from[1]), close(to[0]), close(pair[1]);
	if (connect(read_all, (void *)&a, len) || connect(unread, (void *)&a, len) || write(unread, "unread", 6) != 6)
		return 1;
	close(l);
	if (read(ready[0], b, 1) != 1)
		return 1;
	int lock = open("lock", O_RDWR);
	say("locked", flock(lock, LOCK_EX | LOCK_NB));
	if (argc > 1)
		kill(child, SIGKILL);
	say("waited", waitpid(child, &c, 0) == child);
	printf("signal %d code %d status %d, ended by %d\n", WTERMSIG(c), code, status, WIFSIGNALED(c));
	say("read pipe", read(from[0], b, 8));
	say("write pipe", write(to[1], "x", 1));
	say("read socket", read(pair[0], b, 8));
	say("write socket", write(pair[0], "x", 1));
	say("read connection", read(read_all, b, 8));
	say("read connection with unread data", read(unread, b, 8));
	struct pollfd p = {.fd = read_all, .events = POLLIN | POLLOUT | POLLRDHUP};
	say("poll", poll(&p, 1, 0));
	say("events", p.revents);
	say("lock", flock(lock, LOCK_EX | LOCK_NB));
	struct flock record = {.l_type = F_WRLCK};
	say("lock record", fcntl(lock, F_SETLK, &record));
	errno = pthread_mutex_lock(m);
	say("lock mutex", -errno);
	say("child", kill(child, 0));
}
