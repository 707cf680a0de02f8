// Many readers or one writer.
#include "guest.h"

static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static long a, b;
static int torn;

static void *writer(void *x)
{
	for (int i = 0; i < 300; i++) {
		pthread_rwlock_wrlock(&l);
		a++;
		sched_yield();
		b++;
		pthread_rwlock_unlock(&l);
	}
	return x;
}

static void *reader(void *x)
{
	for (int i = 0; i < 300; i++) {
		pthread_rwlock_rdlock(&l);
		if (a != b)
			__sync_fetch_and_add(&torn, 1);
		pthread_rwlock_unlock(&l);
	}
	return x;
}

int main(void)
{
	pthread_t t[6];
	for (int i = 0; i < 6; i++)
		t[i] = start(i % 2 ? writer : reader, NULL);
	for (int i = 0; i < 6; i++)
		pthread_join(t[i], NULL);
	SHOW(a);
	SHOW(b);
	SHOW(torn);
	SHOWE(pthread_rwlock_rdlock(&l));
	SHOWE(pthread_rwlock_tryrdlock(&l));
	SHOWE(pthread_rwlock_trywrlock(&l));
	SHOWE(pthread_rwlock_unlock(&l));
	SHOWE(pthread_rwlock_unlock(&l));
	SHOWE(pthread_rwlock_wrlock(&l));
	SHOWE(pthread_rwlock_tryrdlock(&l));
}
