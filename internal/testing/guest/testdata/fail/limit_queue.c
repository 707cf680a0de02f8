// guest: gcc -lrt
// A full queue and its limits: EAGAIN, EMSGSIZE, EMFILE, ETIMEDOUT.
#include "guest.h"
#include <mqueue.h>

int main(void)
{
	char b[16];
	struct mq_attr a = {.mq_maxmsg = 2, .mq_msgsize = 16};
	struct timespec soon;
	mq_unlink("/limits");
	mqd_t q = MUST(mq_open("/limits", O_RDWR | O_CREAT | O_NONBLOCK, 0600, &a));
	SHOW(mq_send(q, "1", 1, 0));
	SHOW(mq_send(q, "2", 1, 0));
	SHOW(mq_send(q, "3", 1, 0));
	SHOW(mq_send(q, "0123456789abcdef!", 17, 0));
	SHOW(mq_receive(q, b, 15, NULL));
	a.mq_flags = 0;
	MUST(mq_setattr(q, &a, NULL));
	clock_gettime(CLOCK_REALTIME, &soon);
	SHOW(mq_timedsend(q, "3", 1, 0, &soon));
	soon.tv_nsec = -1;
	SHOW(mq_timedsend(q, "3", 1, 0, &soon));
	struct rlimit l = {0, 0};
	MUST(setrlimit(RLIMIT_MSGQUEUE, &l));
	SHOW(mq_open("/limits2", O_RDWR | O_CREAT, 0600, &a));
	SHOW(mq_unlink("/limits"));
	SHOW(mq_unlink("/limits"));
	SHOW(mq_open("/limits", O_RDWR));
}
