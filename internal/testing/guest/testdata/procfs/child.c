// The files of another process: name, state, command line.
#include "proc.h"

static char *of(pid_t p, const char *file)
{
	char b[64];
	sprintf(b, "/proc/%d/%s", p, file);
	return slurp(b);
}

int main(void)
{
	int p[2];
	char b;
	MUST(pipe(p));
	pid_t child = fork();
	if (child == 0) {
		dup2(p[0], 0);
		close(p[1]);
		execl("/bin/cat", "a-cat", "-", NULL);
		_exit(1);
	}
	close(p[0]);
	for (int i = 0; i < 500 && strncmp(of(child, "comm"), "cat", 3); i++)
		nap(2);
	rest(child);
	printf("comm %s", of(child, "comm"));
	char *c = of(child, "cmdline");
	printf("cmdline %s %s\n", c, c + strlen(c) + 1);
	printf("state %c\n", strrchr(of(child, "stat"), ')')[2]);
	SURE(atoi(field(of(child, "status"), "PPid")) == getpid());
	close(p[1]);
	(void)b;
	show_wait("cat", child);
}
