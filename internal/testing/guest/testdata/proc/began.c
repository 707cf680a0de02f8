// When processes and threads began: later than those that were there before, and not later than now.
#include "guest.h"

static long long began(int pid, int tid) {
	char path[64], text[1024] = "";
	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, tid);
	int fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof text - 1) <= 0) return -1;
	close(fd);
	char *field = strrchr(text, ')');
	for (int i = 2; field && i < 22; i++) field = strchr(field + 1, ' ');
	return field ? atoll(field) : -1;
}

static int thread;

static void *wait_for_ever(void *arg) {
	(void)arg;
	__atomic_store_n(&thread, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	for (;;) pause();
}

int main(void) {
	long long first = began(getpid(), getpid());
	usleep(100000);
	int child = fork();
	if (!child)
		for (;;) pause();
	long long second = began(child, child);
	usleep(100000);
	pthread_t t;
	pthread_create(&t, 0, wait_for_ever, 0);
	while (!__atomic_load_n(&thread, __ATOMIC_SEQ_CST)) usleep(1000);
	long long third = began(getpid(), thread);
	kill(child, SIGKILL);
	waitpid(child, 0, 0);

	struct timespec now;
	clock_gettime(CLOCK_BOOTTIME, &now);
	long long ticks = now.tv_sec * 100LL + now.tv_nsec / 10000000;
	printf("first %d, second %d, third %d, now %d\n", first > 0, second >= first + 10, third >= second + 10, ticks >= third);
	printf("the process still began at its own time: %d\n", began(getpid(), getpid()) == first);
	return 0;
}
