// Calls as a supervisor might mark its own: with constants in the arguments that the
// call does not use. None of them may reach Linux unseen.
#include "hostile.h"
#include <time.h>

int main(int argc, char **argv)
{
	static const unsigned long marks[] = {
		0x41726961646e6521, 0x21656e6461697241, 0x6e6521, 0x41726961, 0xffffffffffffffff, 0xdeadbeef,
	};
	pid_t pid = getpid();
	time_t real = atol(argv[1]);
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		long m = marks[i];
		TRY("process id", call6(SYS_getpid, 0, 0, 0, 0, 0, m) != pid || call6(SYS_getpid, m, m, m, m, m, m) != pid);
		struct timespec ts = {0};
		call6(SYS_clock_gettime, CLOCK_REALTIME, (long)&ts, m, m, m, m);
		TRY("real time", labs(ts.tv_sec - real) < 86400);
		TRY("file in /spec", call6(SYS_openat, AT_FDCWD, (long)"/spec/escaped", O_CREAT | O_RDWR, 0644, m, m) >= 0);
		TRY("remount", call6(SYS_mount, 0, (long)"/spec", 0, 4096 | 32, 0, m) == 0);
		TRY("unshare", call6(SYS_unshare, 0x10000000, m, m, m, m, m) == 0);
	}
	puts("done");
}
