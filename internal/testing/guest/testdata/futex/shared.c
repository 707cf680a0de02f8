// Processes wait for one another on shared memory, and on a shared file mapped twice.
#include "futex.h"

int main(void)
{
	int fd = MUST(open("file", O_RDWR | O_CREAT, 0600));
	MUST(ftruncate(fd, 8192));
	int *a = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int *b = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096), *anon = shared(4096);
	pid_t child = fork();
	if (child == 0) {
		MUST(futex(&a[1025], FUTEX_WAIT, 0, NULL, NULL, 0));
		while (__atomic_load_n(anon, __ATOMIC_SEQ_CST) == 0)
			futex(anon, FUTEX_WAIT, 0, NULL, NULL, 0);
		_exit(*anon);
	}
	rest(child);
	SHOW(futex(&a[1024], FUTEX_WAKE, 1, NULL, NULL, 0));
	SHOW(futex(&b[1], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
	SHOW(futex(&b[1], FUTEX_WAKE, 1, NULL, NULL, 0));
	rest(child);
	__atomic_store_n(anon, 5, __ATOMIC_SEQ_CST);
	futex(anon, FUTEX_WAKE, 1, NULL, NULL, 0);
	show_wait("child", child);
}
