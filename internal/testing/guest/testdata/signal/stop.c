// Stopping and continuing: what the parent sees, and that nothing runs meanwhile.
#include "guest.h"

int main(void)
{
	volatile int *tick = shared(4096);
	int st;
	pid_t child = fork();
	if (child == 0) {
		setpgid(0, 0); // SIGTSTP stops nobody in an orphaned group
		for (;;) {
			++*tick;
			nap(5);
		}
	}
	nap(30);
	SHOW(kill(child, SIGSTOP));
	SURE(waitpid(child, &st, WUNTRACED) == child);
	show_status("child", st);
	int before = *tick;
	nap(40);
	SURE(*tick == before);
	SHOW(waitpid(child, &st, WUNTRACED | WNOHANG));
	SHOW(kill(child, SIGCONT));
	SURE(waitpid(child, &st, WCONTINUED) == child);
	show_status("child", st);
	for (int i = 0; i < 1000 && *tick == before; i++)
		nap(5);
	SURE(*tick > before);
	kill(child, SIGTSTP);
	siginfo_t si = {0};
	SHOW(waitid(P_PID, child, &si, WSTOPPED));
	SURE(si.si_code == CLD_STOPPED && si.si_status == SIGTSTP && si.si_pid == child);
	// A stopped process dies of SIGKILL at once, of SIGTERM when continued.
	kill(child, SIGTERM);
	nap(10);
	SHOW(waitpid(child, &st, WNOHANG));
	kill(child, SIGCONT);
	show_wait("child", child);
}
