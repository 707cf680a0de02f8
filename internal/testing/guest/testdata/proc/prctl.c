// prctl's small settings, and an unknown one.
#include "guest.h"
#include <sys/prctl.h>

int main(void)
{
	int v = -1;
	SHOW(prctl(PR_GET_DUMPABLE));
	SHOW(prctl(PR_SET_DUMPABLE, 0));
	SHOW(prctl(PR_GET_DUMPABLE));
	SHOW(prctl(PR_SET_PDEATHSIG, SIGUSR1));
	SHOW(prctl(PR_GET_PDEATHSIG, &v));
	SHOW(v);
	SHOW(prctl(PR_SET_PDEATHSIG, 99));
	SHOW(prctl(PR_GET_KEEPCAPS));
	SHOW(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	SHOW(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
	SHOW(prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0));
	SHOW(prctl(12345));
}
