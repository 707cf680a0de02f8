// Several pending signals at once: handlers nest, lowest number delivered first.
#include "guest.h"

static char log[256];
static void handler(int sig)
{
	sprintf(log + strlen(log), "<%s", sigabbrev_np(sig));
	strcat(log, ">");
}

int main(void)
{
	sigset_t s;
	int sigs[] = {SIGTERM, SIGUSR2, SIGHUP, SIGUSR1};
	sigemptyset(&s);
	struct sigaction sa = {.sa_handler = handler};
	sigfillset(&sa.sa_mask);
	for (int i = 0; i < 4; i++) {
		MUST(sigaction(sigs[i], &sa, NULL));
		sigaddset(&s, sigs[i]);
	}
	sigprocmask(SIG_BLOCK, &s, NULL);
	for (int i = 0; i < 4; i++)
		kill(getpid(), sigs[i]);
	sigprocmask(SIG_UNBLOCK, &s, NULL);
	printf("%s\n", log);
}
