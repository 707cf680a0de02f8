// guest: gcc -pthread
// One SIGKILL ends all threads, wherever they wait; siginfo says by what.
#include "kill.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int p[2];

static void *locks(void *x) { pthread_mutex_lock(&m); return x; }
static void *reads(void *x) { char c; read(p[0], &c, 1); return x; }
static void *sleeps(void *x) { nap(100000); return x; }

static void act(void)
{
	MUST(pipe(p));
	pthread_mutex_lock(&m);
	start(locks, NULL);
	start(reads, NULL);
	start(sleeps, NULL);
	rest(0);
}

int main(void)
{
	siginfo_t s = {0};
	pid_t v = victim(act);
	SHOW(kill(v, SIGKILL));
	SHOW(waitid(P_PID, v, &s, WEXITED | WNOWAIT));
	printf("code %d status %d signal %d pid %d\n", s.si_code == CLD_KILLED, s.si_status == SIGKILL, s.si_signo == SIGCHLD, s.si_pid == v);
	SHOW(kill(v, 0));
	show_wait("it", v);
	SHOW(kill(v, 0));
}
