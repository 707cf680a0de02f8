// flock: shared, exclusive, per open file, waited for, given up.
#include "guest.h"
#include <sys/file.h>

int main(void)
{
	int a = MUST(open("f", O_RDWR | O_CREAT, 0600)), b = MUST(open("f", O_RDONLY)), d = MUST(dup(a));
	SHOW(flock(a, LOCK_SH | LOCK_NB));
	SHOW(flock(b, LOCK_SH | LOCK_NB));
	SHOW(flock(a, LOCK_EX | LOCK_NB));
	SHOW(flock(b, LOCK_UN));
	SHOW(flock(a, LOCK_EX | LOCK_NB));
	SHOW(flock(d, LOCK_EX | LOCK_NB));
	SHOW(flock(b, LOCK_SH | LOCK_NB));
	pid_t child = fork();
	if (child == 0) {
		close(b);
		int c = MUST(open("f", O_RDWR));
		if (flock(c, LOCK_EX | LOCK_NB) == 0)
			_exit(1);
		_exit(flock(c, LOCK_EX) == 0 ? 0 : 2);
	}
	rest(child);
	close(a);
	SHOW(flock(d, LOCK_UN));
	show_wait("child", child);
	SHOW(flock(d, LOCK_EX | LOCK_NB));
	close(d);
	SHOW(flock(b, LOCK_EX | LOCK_NB));
	SHOW(flock(b, 0));
	SHOW(flock(999, LOCK_SH));
	on(SIGALRM, nothing, 0);
	ring(20);
	int c = MUST(open("f", O_RDWR));
	SHOW(flock(c, LOCK_SH));
}
