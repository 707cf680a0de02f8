// Calls that wait end with EINTR when a handler without SA_RESTART runs, whatever they wait for.
#include "net.h"
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/sem.h>

int main(void)
{
	int p[2], s[2];
	char b[64];
	struct sockaddr_in a;
	sem_t sem;
	fd_set none;
	struct epoll_event e;
	FD_ZERO(&none);
	MUST(pipe(p));
	int l = listener(&a), u = bound(SOCK_DGRAM, &a), set = MUST(epoll_create1(0)), q = MUST(msgget(IPC_PRIVATE, 0600)), ss = MUST(semget(IPC_PRIVATE, 1, 0600));
	tcp_pair(s);
	sem_init(&sem, 0, 0);
	int f = MUST(open("lock", O_RDWR | O_CREAT, 0600)), g = MUST(open("lock", O_RDWR));
	MUST(flock(f, LOCK_EX));
	on(SIGALRM, nothing, 0);
	ring(10);
	SHOW(read(p[0], b, 1));
	SHOW(accept(l, NULL, NULL));
	SHOW(recv(s[0], b, 1, 0));
	SHOW(recvfrom(u, b, 1, 0, NULL, NULL));
	SHOW(poll(NULL, 0, -1));
	SHOW(select(0, &none, NULL, NULL, NULL));
	SHOW(epoll_wait(set, &e, 1, -1));
	SHOW(sem_wait(&sem));
	SHOW(flock(g, LOCK_EX));
	SHOW(msgrcv(q, b, 8, 0, 0));
	SHOW(semop(ss, &(struct sembuf){0, -1, 0}, 1));
	SHOW(eventfd_read(eventfd(0, 0), (eventfd_t *)b));
	SHOW(pause());
	SHOW(nanosleep(&(struct timespec){100, 0}, NULL));
	sigset_t usr;
	sigemptyset(&usr);
	sigaddset(&usr, SIGUSR1);
	SHOW(sigwaitinfo(&usr, NULL));
	pid_t c = MUST(fork());
	if (!c)
		for (;;)
			pause();
	SHOW(waitpid(c, NULL, 0));
	SHOW(kill(c, SIGKILL));
	MUST(setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL));
	show_wait("the child", c);
	MUST(msgctl(q, IPC_RMID, NULL));
	MUST(semctl(ss, 0, IPC_RMID));
}
