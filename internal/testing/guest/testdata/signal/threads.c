// Signals to a process go to a thread that takes them; to a thread, to that one.
#include "guest.h"

static pthread_t main_thread, taker;
static volatile int by_taker, by_main;

static void handler(int sig)
{
	if (pthread_equal(pthread_self(), taker))
		by_taker++;
	else
		by_main++;
}

static volatile int go;

static void *take(void *x)
{
	sigset_t s;
	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &s, NULL);
	while (!go)
		nap(5);
	return x;
}

int main(void)
{
	sigset_t s;
	main_thread = pthread_self();
	on(SIGUSR1, handler, 0);
	on(SIGUSR2, handler, 0);
	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &s, NULL);
	taker = start(take, NULL);
	rest(0);
	kill(getpid(), SIGUSR1);
	rest(0);
	printf("process-wide: taker %d, main %d\n", by_taker, by_main);
	SHOWE(pthread_kill(taker, SIGUSR2));
	rest(0);
	printf("to the taker: taker %d, main %d\n", by_taker, by_main);
	SHOWE(pthread_kill(main_thread, SIGUSR2));
	printf("to main: taker %d, main %d\n", by_taker, by_main);
	SHOWE(pthread_kill(main_thread, SIGUSR1));
	printf("blocked: taker %d, main %d\n", by_taker, by_main);
	SHOWE(pthread_kill(main_thread, 0));
	SHOWE(pthread_kill(main_thread, 99));
	SHOW(syscall(SYS_tgkill, getpid(), 999999, 0));
	SHOW(syscall(SYS_tgkill, getpid(), 0, 0));
	go = 1;
	pthread_join(taker, NULL);
}
