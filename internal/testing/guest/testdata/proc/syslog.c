// guest: root
// What may be asked of the kernel's log, and who is heard.
#include "guest.h"

static long ask(int type, void *b, int len) { return syscall(SYS_syslog, type, b, len); }

int main(void)
{
	char b[64];
	SHOW(ask(0, NULL, 0));
	SHOW(ask(1, NULL, 0));
	SHOW(ask(2, b, 0));
	SHOW(ask(2, NULL, 9));
	SHOW(ask(2, b, -1));
	SHOW(ask(3, b, 0));
	SHOW(ask(3, NULL, 0));
	SHOW(ask(3, b, -1));
	SHOW(ask(4, NULL, 1));
	SHOW(ask(8, NULL, 0));
	SHOW(ask(8, NULL, 9));
	SURE(ask(10, NULL, 0) > 0);
	SHOW(ask(11, NULL, 0));
	SHOW(ask(100, b, 1));
	pid_t pid = MUST(fork());
	if (!pid) {
		MUST(setsid());
		SHOW(syscall(SYS_vhangup));
		MUST(setresuid(1000, 1000, 1000));
		SHOW(syscall(SYS_vhangup));
		SHOW(ask(2, b, 0));
		SHOW(ask(5, NULL, 0));
		SHOW(ask(100, NULL, 0));
		_exit(0);
	}
	show_wait("child", pid);
	return 0;
}
