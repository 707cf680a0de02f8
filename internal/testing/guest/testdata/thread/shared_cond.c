// A condition between processes.
#include "guest.h"

struct box {
	pthread_mutex_t m;
	pthread_cond_t c;
	int turn;
};

int main(void)
{
	struct box *b = shared(4096);
	pthread_mutexattr_t ma;
	pthread_condattr_t ca;
	pthread_mutexattr_init(&ma);
	pthread_mutexattr_setpshared(&ma, PTHREAD_PROCESS_SHARED);
	pthread_condattr_init(&ca);
	pthread_condattr_setpshared(&ca, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&b->m, &ma);
	pthread_cond_init(&b->c, &ca);
	pid_t child = fork();
	int me = child == 0;
	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(&b->m);
		while (b->turn % 2 != me)
			pthread_cond_wait(&b->c, &b->m);
		b->turn++;
		pthread_cond_signal(&b->c);
		pthread_mutex_unlock(&b->m);
	}
	if (child == 0)
		_exit(0);
	show_wait("child", child);
	SHOW(b->turn);
}
