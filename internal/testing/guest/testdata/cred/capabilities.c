// guest: root
// Single capabilities, the ids for files alone, and what comes and goes with them.
#include "cred.h"
#include <linux/securebits.h>
#include <sys/fsuid.h>

static void use(void)
{
	struct stat st;
	TRY("closed", O_RDONLY);
	TRY("closed", O_WRONLY);
	TRY("secret/in", O_RDONLY);
	TRY("secret", O_RDONLY | O_DIRECTORY);
	SHOW(stat("secret/in", &st));
	SHOW(mkdir("secret/new", 0700));
	SHOW(rmdir("secret/new"));
	SHOW(chmod("closed", 0600));
	SHOW(chown("closed", 1001, 1001));
	SHOW(chown("closed", 0, 0));
	SHOW(unlink("sticky/roots"));
	SHOW(access("closed", R_OK));
	SHOW(faccessat(AT_FDCWD, "closed", R_OK, AT_EACCESS));
	SHOW(execl("closed", "closed", NULL));
	put("sticky/mine", 0600, -1, -1);
	see("sticky/mine");
	SHOW(unlink("sticky/mine"));
}

static void with(const char *what, uint64_t set)
{
	printf("-- with %s\n", what);
	pid_t child = MUST(fork());
	if (child == 0) {
		MUST(prctl(PR_SET_KEEPCAPS, 1));
		MUST(setgroups(0, NULL));
		MUST(setresgid(1001, 1001, 1001));
		MUST(setresuid(1001, 1001, 1001));
		SHOW(caps(set, set, 0));
		use();
		_exit(0);
	}
	leave(child);
	put("sticky/roots", 0600, 0, 0);
	MUST(chown("closed", 0, 0));
}

static void ambient(void)
{
	uint64_t read = CAP(CAP_DAC_READ_SEARCH);
	MUST(prctl(PR_SET_KEEPCAPS, 1));
	MUST(setresuid(1001, 1001, 1001));
	SHOW(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_READ_SEARCH, 0, 0));
	SHOW(caps(read, read, read));
	SHOW(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_READ_SEARCH, 0, 0));
	SHOW(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_DAC_READ_SEARCH, 0, 0));
	SHOW(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0));
	SHOW(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 99, 0, 0));
	fflush(stdout);
	execl("/bin/sh", "sh", "-c", "cat closed 2>&1; grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status", NULL);
}

int main(void)
{
	umask(0);
	MUST(chmod(".", 0755));
	put("closed", 0600, 0, 0);
	putdir("secret", 0700, 0, 0);
	put("secret/in", 0600, 0, 0);
	putdir("sticky", 01777, 0, 0);
	put("sticky/roots", 0600, 0, 0);
	with("nothing", 0);
	with("CAP_DAC_OVERRIDE", CAP(CAP_DAC_OVERRIDE));
	with("CAP_DAC_READ_SEARCH", CAP(CAP_DAC_READ_SEARCH));
	with("CAP_FOWNER", CAP(CAP_FOWNER));
	with("CAP_CHOWN", CAP(CAP_CHOWN));

	puts("-- root without capabilities");
	pid_t child = MUST(fork());
	if (child == 0) {
		put("others", 0600, 1001, 1001);
		MUST(caps(0, 0, 0));
		TRY("closed", O_RDONLY);
		TRY("others", O_RDONLY);
		SHOW(chown("closed", 1001, -1));
		SHOW(setuid(1001));
		SHOW(chroot("."));
		fflush(stdout);
		execl("/bin/sh", "sh", "-c", "cat others 2>&1", NULL);
	}
	leave(child);

	puts("-- effective only");
	SHOW(seteuid(1001));
	TRY("closed", O_RDONLY);
	SHOW(access("closed", R_OK));
	SHOW(faccessat(AT_FDCWD, "closed", R_OK, AT_EACCESS));
	SHOW(seteuid(0));
	TRY("closed", O_RDONLY);

	puts("-- for files only");
	SHOW(setfsuid(1001));
	TRY("closed", O_RDONLY);
	put("sticky/fs", 0600, -1, -1);
	see("sticky/fs");
	SHOW(setfsuid(0));
	TRY("closed", O_RDONLY);

	puts("-- ambient");
	child = MUST(fork());
	if (child == 0)
		ambient();
	leave(child);

	puts("-- bounding set and secure bits");
	child = MUST(fork());
	if (child == 0) {
		SHOW(prctl(PR_CAPBSET_READ, CAP_CHOWN));
		SHOW(prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE));
		SHOW(prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH));
		SHOW(prctl(PR_CAPBSET_DROP, 99));
		SHOW(prctl(PR_CAPBSET_READ, CAP_DAC_OVERRIDE));
		put("others", 0600, 1001, 1001);
		TRY("others", O_RDONLY);
		fflush(stdout);
		pid_t p = MUST(fork());
		if (p == 0)
			execl("/bin/sh", "sh", "-c", "cat others 2>&1", NULL);
		int st;
		waitpid(p, &st, 0);
		SHOW(prctl(PR_GET_SECUREBITS));
		SHOW(prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED));
		SHOW(prctl(PR_SET_SECUREBITS, 0));
		SHOW(prctl(PR_GET_SECUREBITS));
		SHOW(setresuid(1001, 1001, 1001));
		SHOW(chown("closed", 1001, -1));
		see("closed");
		fflush(stdout);
		execl("/bin/sh", "sh", "-c", "chown 0 closed 2>&1 || grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status", NULL);
	}
	leave(child);
}
