// An exec that fails leaves the program as it was.
#include "guest.h"

int main(void)
{
	static char *big[200000];
	static char word[1000];
	char *args[] = {"x", NULL}, *env[] = {NULL};
	memset(word, 'w', 999);
	for (int i = 0; i < 199999; i++)
		big[i] = word;
	MUST(close(open("plain", O_CREAT | O_RDWR, 0600)));
	int f = MUST(open("text", O_CREAT | O_RDWR, 0700));
	MUST(write(f, "no program\n", 11));
	SHOW(execve("text", args, env)); // open for writing
	close(f);
	SHOW(execve("none", args, env));
	SHOW(execve("plain/x", args, env));
	SHOW(execve(".", args, env));
	SHOW(execve("text", args, env));
	SHOW(execve("/bin/true", big, env));
	f = MUST(open("script", O_CREAT | O_WRONLY, 0700));
	MUST(write(f, "#!/no/such\n", 11));
	close(f);
	SHOW(execve("script", args, env));
	f = MUST(open("empty", O_CREAT | O_WRONLY, 0700));
	close(f);
	SHOW(execve("empty", args, env));
	SHOW(syscall(SYS_execve, "/bin/true", 8, env));
	puts("still here");
}
