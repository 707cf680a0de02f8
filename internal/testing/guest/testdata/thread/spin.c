// A spin lock and a spin on a flag: no call is made while waiting.
// guest: spins
#include "guest.h"

static pthread_spinlock_t l;
static volatile int flag;
static long counter;

static void *add(void *x)
{
	while (!flag)
		;
	for (int i = 0; i < 10000; i++) {
		pthread_spin_lock(&l);
		counter++;
		pthread_spin_unlock(&l);
	}
	return x;
}

int main(void)
{
	pthread_t t[2];
	pthread_spin_init(&l, PTHREAD_PROCESS_PRIVATE);
	for (int i = 0; i < 2; i++)
		t[i] = start(add, NULL);
	nap(10);
	flag = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	SHOW(counter);
}
