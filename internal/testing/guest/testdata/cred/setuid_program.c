// guest: root
// Programs with set-id bits: who runs them becomes their owner.
#include "cred.h"
#include <sys/auxv.h>
#include <sys/sendfile.h>

static void who(void)
{
	uid_t r, e, s;
	gid_t gr, ge, gs;
	MUST(getresuid(&r, &e, &s));
	MUST(getresgid(&gr, &ge, &gs));
	printf("%d %d %d, %d %d %d\n", r, e, s, gr, ge, gs);
	printf("aux %lu %lu, %lu %lu, secure %lu\n", getauxval(AT_UID), getauxval(AT_EUID), getauxval(AT_GID), getauxval(AT_EGID), getauxval(AT_SECURE));
	unsigned long aux[2];
	int fd = open("/proc/self/auxv", O_RDONLY);
	if (fd < 0)
		perror("auxv");
	while (fd >= 0 && read(fd, aux, sizeof aux) == sizeof aux)
		if ((aux[0] >= AT_UID && aux[0] <= AT_EGID) || aux[0] == AT_SECURE)
			printf("auxv %lu: %lu\n", aux[0], aux[1]);
	close(fd);
	printf("dumpable %d, pdeathsig %d\n", prctl(PR_GET_DUMPABLE), ({ int x; prctl(PR_GET_PDEATHSIG, &x); x; }));
	printf("LD_LIBRARY_PATH %s\n", getenv("LD_LIBRARY_PATH") ?: "none");
	TRY("roots", O_RDONLY);
	SHOW(access("roots", R_OK));
	TRY("nobodys", O_RDONLY);
	TRY("/proc/self/environ", O_RDONLY);
	TRY("/proc/self/status", O_RDONLY);
	TRY("/proc/self/oom_score_adj", O_WRONLY);
	TRY("/proc/self/fd", O_RDONLY);
	SHOW(setuid(getuid()));
	SHOW(setuid(0));
	fflush(stdout);
}

static void copy(const char *to, mode_t mode, uid_t uid, gid_t gid)
{
	int in = MUST(open("/proc/self/exe", O_RDONLY)), out = MUST(open(to, O_CREAT | O_WRONLY, 0700));
	struct stat st;
	MUST(fstat(in, &st));
	MUST(sendfile(out, in, NULL, st.st_size));
	MUST(fchown(out, uid, gid));
	MUST(fchmod(out, mode));
	close(in);
	close(out);
	see(to);
}

static void execute(const char *name)
{
	printf("-- %s\n", name);
	fflush(stdout);
	pid_t child = MUST(fork());
	if (child == 0) {
		MUST(prctl(PR_SET_PDEATHSIG, SIGUSR1));
		SHOW(execl(name, name, "who", NULL));
		_exit(0);
	}
	leave(child);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		who();
		return 0;
	}
	MUST(setenv("LD_LIBRARY_PATH", "/nowhere", 1));
	umask(0);
	MUST(chmod(".", 0755));
	put("roots", 0600, 0, 0);
	put("nobodys", 0600, 1005, 1005);
	copy("./plain", 0755, 0, 0);
	copy("./suid", 04755, 0, 0);
	copy("./sgid", 02755, 0, 3003);
	copy("./both", 06755, 1005, 1005);
	copy("./locking", 02745, 0, 3003);
	copy("./forbidden", 04700, 0, 0);
	copy("./unreadable", 0711, 0, 0);
	int fd = MUST(open("script", O_CREAT | O_WRONLY, 0755));
	MUST(write(fd, "#!./plain\n", 10));
	MUST(fchmod(fd, 04755));
	close(fd);
	execute("./both");
	execute("./plain");
	AS(1001, 1001, 1001) {
		execute("./plain");
		execute("./suid");
		execute("./sgid");
		execute("./both");
		execute("./locking");
		execute("./forbidden");
		execute("./unreadable");
		execute("./script");
		MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
		execute("./suid");
	}
	MUST(seteuid(1001));
	execute("./plain");
}
