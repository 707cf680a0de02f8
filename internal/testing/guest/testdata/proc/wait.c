// Waiting for children: any, one, none, too many ways.
#include "guest.h"

int main(void)
{
	int st = 0, p[2];
	char go;
	MUST(pipe(p));
	SHOW(wait(&st));
	SHOW(waitpid(-1, &st, WNOHANG));
	pid_t a = fork();
	if (a == 0)
		_exit(1);
	pid_t b = fork();
	if (b == 0) {
		MUST(read(p[0], &go, 1));
		_exit(2);
	}
	SURE(waitpid(a, &st, 0) == a);
	show_status("a", st);
	SHOW(waitpid(b, &st, WNOHANG));
	SHOW(waitpid(a, &st, 0));
	MUST(write(p[1], "x", 1));
	SURE(wait(&st) == b);
	show_status("b", st);
	SHOW(wait(&st));
	SHOW(waitpid(-1, &st, 0x100000));
	pid_t c = fork();
	if (c == 0)
		_exit(0x1ff);
	struct rusage r;
	SURE(wait4(c, &st, 0, &r) == c);
	show_status("c", st);
	SURE(r.ru_maxrss > 0);
	SHOW(waitpid(getpid(), &st, 0));
	SHOW(waitpid(INT_MIN, &st, 0));
}
