// A program asks whether it is debugged, as FreeRADIUS does: it has a child attach to it. It goes on whatever the answer.
#include "guest.h"
#include <sys/ptrace.h>
#include <sys/wait.h>

int main(void)
{
	int status;
	pid_t child = MUST(fork());
	if (child == 0) {
		if (ptrace(PTRACE_ATTACH, getppid(), 0, 0) < 0)
			_exit(errno == EPERM);
		waitpid(getppid(), &status, 0);
		ptrace(PTRACE_DETACH, getppid(), 0, 0);
		_exit(1);
	}
	MUST(waitpid(child, &status, 0));
	printf("asked: %d\n", WIFEXITED(status) && WEXITSTATUS(status) == 1);
}
