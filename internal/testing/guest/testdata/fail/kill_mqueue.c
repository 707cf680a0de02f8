// guest: gcc -lrt
// A message queue outlives a killed process; whom it was to notify is free again.
#include "kill.h"
#include <mqueue.h>

static mqd_t q;

static void act(void)
{
	struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	signal(SIGUSR1, SIG_IGN);
	MUST(mq_notify(q, &e));
}

int main(void)
{
	char b[64];
	struct mq_attr a = {.mq_maxmsg = 4, .mq_msgsize = 64};
	struct sigevent e = {.sigev_notify = SIGEV_NONE};
	mq_unlink("/killed");
	q = MUST(mq_open("/killed", O_RDWR | O_CREAT, 0600, &a));
	pid_t v = victim(act);
	SHOW(mq_notify(q, &e));
	slay(v);
	SHOW(mq_notify(q, &e));
	SHOW(mq_send(q, "m", 1, 0));
	SHOW(mq_receive(q, b, 64, NULL));
	SHOW(mq_unlink("/killed"));
}
