// exec: arguments and environment arrive; close-on-exec; the number stays.
#include "guest.h"

extern char **environ;

int main(int argc, char **argv)
{
	if (argc > 1) {
		for (int i = 1; i < argc; i++)
			printf("argument %d: '%s'\n", i, argv[i]);
		for (char **e = environ; *e; e++)
			if (strncmp(*e, "PID=", 4))
				printf("environment %s\n", *e);
		SURE(atoi(getenv("PID")) == getpid());
		SHOW(fcntl(7, F_GETFD));
		SHOW(fcntl(8, F_GETFD));
		SHOW(lseek(7, 0, SEEK_CUR));
		return 44;
	}
	char pid[32], *env[] = {"A=1", "B=two words", "EMPTY=", pid, NULL};
	sprintf(pid, "PID=%d", getpid());
	int fd = MUST(open("file", O_RDWR | O_CREAT, 0600));
	MUST(write(fd, "abc", 3));
	MUST(dup2(fd, 7));
	MUST(dup3(fd, 8, O_CLOEXEC));
	char *arg[] = {"program", "one", "", "three words", "ünï", NULL};
	execve("/proc/self/exe", arg, env);
	return 1;
}
