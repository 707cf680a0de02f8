// Giving up root, for good or for a while.
// guest: root
#include "guest.h"
#include <grp.h>

int main(void)
{
	gid_t g[8] = {7, 8};
	SHOW(setgroups(2, g));
	SHOW(getgroups(8, g));
	SHOW(seteuid(1000));
	SHOW(geteuid());
	SHOW(setgroups(0, NULL));
	SHOW(seteuid(0));
	SHOW(setresgid(1001, 1001, 1001));
	SHOW(setresuid(1000, 1000, 1000));
	SHOW(getuid());
	SHOW(getegid());
	SHOW(setuid(0));
	SHOW(seteuid(0));
	SHOW(setuid(1000));
}
