// uname, host names, sysinfo, personality, sysconf.
#include "guest.h"
#include <sys/personality.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

int main(void)
{
	struct utsname u;
	struct sysinfo si;
	char host[256];
	SHOW(uname(&u));
	printf("%s, %s\n", u.sysname, u.machine);
	SHOW(gethostname(host, sizeof host));
	SURE(!strcmp(host, u.nodename));
	SURE(strlen(u.release) > 2 && atoi(u.release) >= 3);
	SHOW(sysinfo(&si));
	SURE(si.uptime > 0);
	SURE(si.totalram * si.mem_unit > 1 << 20);
	SURE(si.freeram <= si.totalram);
	SURE(si.procs > 0);
	SURE((personality(0xffffffff) & 0xff) == PER_LINUX);
	SHOW(sysconf(_SC_PAGESIZE));
	SURE(sysconf(_SC_PHYS_PAGES) > 0);
	SHOW(uname((void *)8));
}
