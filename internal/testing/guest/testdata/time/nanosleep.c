// Sleeping: not too short, interrupted with the rest told, refused.
#include "guest.h"

int main(void)
{
	struct timespec some = {0, 20000000}, bad = {0, 1000000000}, neg = {-1, 0}, rest = {9, 9}, longer = {5, 0};
	long t = now_ms();
	SHOW(nanosleep(&some, &rest));
	SURE(now_ms() - t >= 19);
	SURE(rest.tv_sec == 9);
	SHOW(nanosleep(&bad, NULL));
	SHOW(nanosleep(&neg, NULL));
	SHOW(nanosleep(NULL, NULL));
	on(SIGALRM, nothing, SA_RESTART);
	ring(20);
	SHOW(nanosleep(&longer, &rest));
	SURE(rest.tv_sec == 4 && rest.tv_nsec > 0);
	signal(SIGALRM, SIG_IGN);
	SHOW(nanosleep(&some, NULL));
	SHOW(usleep(1000));
	SHOW(sleep(0));
}
