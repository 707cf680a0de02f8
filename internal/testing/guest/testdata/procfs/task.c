// /proc/self/task: one directory per thread.
#include "proc.h"

static int tasks(void)
{
	int n = 0;
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;
	while ((e = readdir(d)))
		n += *e->d_name != '.';
	closedir(d);
	return n;
}

static pthread_barrier_t b;
static void *waits(void *x)
{
	pthread_setname_np(pthread_self(), "waiter");
	*(pid_t *)x = gettid();
	pthread_barrier_wait(&b);
	pthread_barrier_wait(&b);
	return x;
}

int main(void)
{
	pthread_t t[3];
	pid_t tid[3];
	char p[64];
	SHOW(tasks());
	pthread_barrier_init(&b, NULL, 4);
	for (int i = 0; i < 3; i++)
		t[i] = start(waits, &tid[i]);
	pthread_barrier_wait(&b);
	SHOW(tasks());
	sprintf(p, "/proc/self/task/%d/comm", tid[0]);
	printf("%s", slurp(p));
	sprintf(p, "/proc/self/task/%d/status", tid[0]);
	SURE(atoi(field(slurp(p), "Pid")) == tid[0]);
	rest(0);
	sprintf(p, "/proc/self/task/%d/stat", tid[0]);
	printf("state %c\n", strrchr(slurp(p), ')')[2]);
	pthread_barrier_wait(&b);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < 1000 && tasks() > 1; i++) // a joined thread may still be leaving
		nap(1);
	SHOW(tasks());
}
