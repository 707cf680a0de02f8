// /proc/self/status and stat: names, numbers, signals.
#include "proc.h"

int main(void)
{
	sigset_t s;
	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	sigprocmask(SIG_BLOCK, &s, NULL);
	signal(SIGHUP, SIG_IGN);
	on(SIGUSR2, nothing, 0);
	raise(SIGUSR1);
	char *t = slurp("/proc/self/status");
	printf("Name %s\n", field(t, "Name"));
	printf("State %s\n", field(t, "State"));
	SURE(atoi(field(t, "Pid")) == getpid());
	SURE(atoi(field(t, "Tgid")) == getpid());
	SURE(atoi(field(t, "PPid")) == getppid());
	SURE((uid_t)atoi(field(t, "Uid")) == getuid());
	printf("Threads %s\n", field(t, "Threads"));
	printf("SigBlk %s\n", field(t, "SigBlk"));
	printf("SigIgn %llx\n", strtoull(field(t, "SigIgn"), NULL, 16) & 1);
	printf("SigCgt %llx\n", strtoull(field(t, "SigCgt"), NULL, 16) & 0xfff);
	SURE(atol(field(t, "VmRSS")) > 0);
	SURE(atol(field(t, "VmSize")) > 0);
	SURE(strcmp(field(t, "Cpus_allowed_list"), "(none)"));
	t = slurp("/proc/self/stat");
	SURE(atoi(t) == getpid());
	char *after = strrchr(t, ')') + 2;
	int ppid, pgrp, sid;
	sscanf(after + 2, "%d %d %d", &ppid, &pgrp, &sid);
	SURE(ppid == getppid() && pgrp == getpgrp() && sid == getsid(0));
	int fields = 0;
	for (char *p = t; *p; p++)
		fields += *p == ' ';
	SURE(fields >= 43);
	long size = atol(slurp("/proc/self/statm"));
	SURE(size > 0);
}
