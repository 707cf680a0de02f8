// POSIX message queues: names, attributes, priorities, waiting, notification.
#include "guest.h"
#include <mqueue.h>
#include <sys/epoll.h>

static mqd_t q;

static void attr(mqd_t d)
{
	struct mq_attr a;
	if (SHOW(mq_getattr(d, &a)) == 0)
		printf("%#lx, %ld of %ld messages of %ld\n", a.mq_flags, a.mq_curmsgs, a.mq_maxmsg, a.mq_msgsize);
}

static void get(mqd_t d)
{
	char b[64] = "";
	unsigned prio = 99;
	SHOW(mq_receive(d, b, sizeof b, &prio));
	printf("%u %s\n", prio, b);
}

static struct timespec in(int ms)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += ms * 1000000L;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void *sender(void *what)
{
	usleep(30000);
	return (void *)(long)mq_send(q, what, 4, 5);
}

static void *receiver(void *x)
{
	usleep(30000);
	get(q);
	return NULL;
}

static void told(int sig, siginfo_t *i, void *c)
{
	printf("signal: code %d, value %d, %s\n", i->si_code, i->si_value.sival_int, i->si_pid == getpid() ? "from me" : "from another");
}

static void tick(int sig) { printf("interrupted\n"); }

static int called;
static void notified(union sigval v) { called = v.sival_int; }

int main(void)
{
	char b[64], name[30];
	struct mq_attr a = {.mq_maxmsg = 3, .mq_msgsize = 64}, bad = {.mq_maxmsg = 0, .mq_msgsize = 64}, odd = {.mq_flags = 1};
	struct stat st;
	sprintf(name, "/guest%d", getpid());
	SHOW(mq_open("/guest nothing", O_RDWR));
	SHOW(mq_open("/", O_RDWR));
	SHOW(mq_open("/a/b", O_RDWR | O_CREAT, 0600, NULL));
	SHOW(mq_open("/.", O_RDWR | O_CREAT, 0600, NULL));
	SHOW(mq_open(name, O_RDWR | O_CREAT, 0600, &bad));
	q = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0640, &a);
	printf("%s\n", q < 0 ? strerrorname_np(errno) : "open");
	SHOW(mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0640, &a));
	SHOW(fcntl(q, F_GETFD));
	SHOW(fcntl(q, F_GETFL));
	SHOW(fstat(q, &st));
	printf("%o\n", st.st_mode);
	attr(q);
	attr(0);
	SHOW(mq_setattr(q, &odd, NULL));
	SHOW(mq_send(q, "low", 4, 1));
	SHOW(mq_send(q, "high", 5, 9));
	SHOW(mq_send(q, "low2", 5, 1));
	attr(q);
	memset(b, 0, sizeof b);
	SHOW(read(q, b, sizeof b));
	printf("%.40s\n", b);
	SHOW(write(q, b, 1));
	SHOW(mq_send(q, "x", 1, 32768));
	SHOW(mq_send(q, b, 65, 1));
	SHOW(mq_receive(q, b, 63, NULL));
	SHOW(mq_receive(q, (char *)1, 64, NULL));
	struct timespec t = in(20), wrong = {0, 1000000000}, past = {1, 0};
	SHOW(mq_send(q, "third", 6, 4));
	SHOW(mq_timedsend(q, "x", 2, 0, &t));
	SHOW(mq_timedsend(q, "x", 2, 0, &wrong));
	SHOW(mq_timedsend(q, "x", 2, 0, &past));
	struct mq_attr nonblock = {.mq_flags = O_NONBLOCK}, old;
	SHOW(mq_setattr(q, &nonblock, &old));
	SHOW(fcntl(q, F_GETFL));
	SHOW(mq_send(q, "x", 2, 0));
	struct pollfd p = {q, POLLIN | POLLOUT, 0};
	SHOW(poll(&p, 1, 0));
	printf("%#x\n", p.revents);
	get(q), get(q), get(q), get(q);
	SHOW(poll(&p, 1, 0));
	printf("%#x\n", p.revents);
	nonblock.mq_flags = 0;
	SHOW(mq_setattr(q, &nonblock, NULL));
	t = in(20);
	SHOW(mq_timedreceive(q, b, 64, NULL, &t));

	pthread_t th;
	pthread_create(&th, NULL, sender, "one");
	get(q);
	pthread_join(th, NULL);
	for (int i = 0; i < 3; i++)
		MUST(mq_send(q, "full", 5, i));
	pthread_create(&th, NULL, receiver, NULL);
	int sent = mq_send(q, "more", 5, 7);
	pthread_join(th, NULL);
	SHOW(sent);
	get(q), get(q), get(q);
	int ep = MUST(epoll_create1(0));
	struct epoll_event ev = {.events = EPOLLIN};
	SHOW(epoll_ctl(ep, EPOLL_CTL_ADD, q, &ev));
	pthread_create(&th, NULL, sender, "two");
	SHOW(epoll_wait(ep, &ev, 1, 1000));
	pthread_join(th, NULL);
	get(q);

	struct sigaction sa = {.sa_sigaction = told, .sa_flags = SA_SIGINFO};
	sigaction(SIGUSR1, &sa, NULL);
	struct sigevent se = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value = {.sival_int = 42}};
	SHOW(mq_notify(q, &se));
	SHOW(mq_notify(q, &se));
	SHOW(mq_send(q, "a", 2, 0));
	SHOW(mq_send(q, "b", 2, 0));
	SHOW(mq_notify(q, &se));
	get(q), get(q);
	sigset_t usr1; // held back until the child, which shows its calls too, has ended
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	if (fork() == 0) {
		struct sigevent none = {.sigev_notify = SIGEV_NONE};
		SHOW(mq_notify(q, &none));
		SHOW(mq_notify(q, NULL));
		SHOW(mq_send(q, "c", 2, 0));
		_exit(0);
	}
	wait(NULL);
	sigprocmask(SIG_UNBLOCK, &usr1, NULL);
	get(q);
	SHOW(mq_notify(q, &se));
	SHOW(mq_notify(q, NULL));
	SHOW(mq_send(q, "d", 2, 0));
	get(q);
	se.sigev_signo = 99;
	SHOW(mq_notify(q, &se));
	se.sigev_signo = SIGUSR1;
	SHOW(mq_notify(q, &se));
	SHOW(close(dup(q)));
	SHOW(mq_send(q, "e", 2, 0));
	get(q);
	struct sigevent thread = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notified, .sigev_value = {.sival_int = 7}};
	SHOW(mq_notify(q, &thread));
	SHOW(mq_send(q, "f", 2, 0));
	for (int i = 0; i < 200 && !called; i++)
		usleep(10000);
	printf("called with %d\n", called);
	get(q);

	struct sigaction sb = {.sa_handler = tick};
	sigaction(SIGALRM, &sb, NULL);
	ualarm(20000, 0);
	SHOW(mq_receive(q, b, 64, NULL));
	mqd_t r = mq_open(name, O_RDONLY);
	SHOW(mq_send(r, "x", 1, 0));
	SHOW(mq_unlink(name));
	SHOW(mq_unlink(name));
	SHOW(mq_open(name, O_RDONLY));
	SHOW(mq_send(q, "g", 2, 0));
	get(r);
	SHOW(mq_close(r));
	SHOW(mq_close(q));
	SHOW(mq_close(q));
	int n = 0;
	for (; n < 100; n++) {
		sprintf(b, "%s-%d", name, n);
		if (mq_open(b, O_RDWR | O_CREAT, 0600, NULL) < 0)
			break;
	}
	printf("%d queues: %s\n", n, strerrorname_np(errno));
	while (n-- > 0) {
		sprintf(b, "%s-%d", name, n);
		mq_unlink(b);
	}
	return 0;
}
