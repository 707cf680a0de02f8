// Who waits for a lock gets it when its owner is killed; a waiter that is killed leaves no trace.
#include "kill.h"
#include <sys/file.h>

static void owns(void) { MUST(flock(open("lock", O_RDWR | O_CREAT, 0600), LOCK_EX)); }

int main(void)
{
	pid_t v = victim(owns), w[2];
	for (int i = 0; i < 2; i++) {
		w[i] = MUST(fork());
		if (!w[i]) {
			int f = MUST(open("lock", O_RDWR));
			_exit(flock(f, LOCK_EX) < 0 ? 50 : 10 + i);
		}
		rest(w[i]);
	}
	SHOW(kill(w[0], SIGKILL));
	show_wait("a waiter", w[0]);
	slay(v);
	show_wait("the other", w[1]);
}
