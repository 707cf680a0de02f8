// posix_spawn with file actions, attributes and a missing program.
#include "guest.h"
#include <spawn.h>

int main(void)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	pid_t p;
	int q[2];
	char b[64] = {0}, *env[] = {"WORD=spawned", NULL}, *sh[] = {"sh", "-c", "echo $WORD $0 >&3; exit 4", "zero", NULL}, *no[] = {"x", NULL};
	sigset_t s;
	MUST(pipe2(q, O_CLOEXEC));
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, q[1], 3);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	posix_spawnattr_init(&at);
	sigfillset(&s);
	posix_spawnattr_setsigdefault(&at, &s);
	sigemptyset(&s);
	posix_spawnattr_setsigmask(&at, &s);
	posix_spawnattr_setflags(&at, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	SHOWE(posix_spawn(&p, "/bin/sh", &fa, &at, sh, env));
	SURE(getpgid(p) == p);
	show_wait("shell", p);
	close(q[1]);
	SHOW(read(q[0], b, 64));
	printf("%s", b);
	SHOWE(posix_spawn(&p, "/no/such", NULL, NULL, no, env));
	SHOWE(posix_spawnp(&p, "true", NULL, NULL, no, env));
	show_wait("true", p);
	posix_spawn_file_actions_addclose(&fa, 999);
	SHOWE(posix_spawn(&p, "/bin/sh", &fa, NULL, sh, env));
	if (p > 0)
		while (wait(NULL) > 0)
			;
}
