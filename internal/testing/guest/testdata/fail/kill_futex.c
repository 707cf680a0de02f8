// Who waits in shared memory for a killed process waits on: nobody wakes it.
#include "kill.h"
#include <linux/futex.h>

static int *word;

static void act(void) { *word = 1; }

int main(void)
{
	struct timespec t = {0, 50000000};
	word = shared(4096);
	slay(victim(act));
	SHOW(syscall(SYS_futex, word, FUTEX_WAIT, 0, &t, NULL, 0));
	SHOW(syscall(SYS_futex, word, FUTEX_WAIT, 1, &t, NULL, 0));
	SHOW(syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0));
}
