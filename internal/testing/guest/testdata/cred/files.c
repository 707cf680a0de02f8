// guest: root
// What other users may do to files, directories and names.
#include "cred.h"
#include <utime.h>

static void reach(void)
{
	TRY("mine", O_RDONLY);
	TRY("mine", O_RDWR);
	TRY("group", O_RDONLY);
	TRY("group", O_WRONLY);
	TRY("others", O_RDONLY);
	TRY("others", O_WRONLY);
	TRY("others", O_RDONLY | O_TRUNC);
	TRY("notowner", O_RDONLY);
	TRY("others", O_RDONLY | O_NOATIME);
	TRY("others", O_CREAT | O_EXCL | O_WRONLY);
	TRY("mine", O_PATH);
	TRY("closed/in", O_RDONLY);
	TRY("closed/in", O_PATH);
	TRY("closed/missing", O_RDONLY);
	TRY("closed", O_RDONLY | O_DIRECTORY);
	TRY("listed/in", O_RDONLY);
	TRY("listed", O_RDONLY | O_DIRECTORY);
	TRY("searched/in", O_RDONLY);
	TRY("searched", O_RDONLY | O_DIRECTORY);
	TRY("searched/missing", O_RDONLY);
	TRY("searched/new", O_CREAT | O_WRONLY);
	TRY("tolink", O_RDONLY);
	TRY("toclosed", O_RDONLY);
	TRY("closed/../others", O_RDONLY);
	TRY("searched/../others", O_RDONLY);
	TRY("others/x", O_RDONLY);
	TRY(".", O_WRONLY);
	TRY("searched", O_TMPFILE | O_RDWR);
	TRY("dangling", O_CREAT | O_WRONLY);
	struct stat st;
	SHOW(stat("mine", &st));
	SHOW(stat("closed/in", &st));
	SHOW(lstat("toclosed", &st));
	SHOW(stat("toclosed", &st));
	SHOW(chdir("closed"));
	SHOW(chdir("listed"));
	SHOW(access("mine", R_OK));
	SHOW(access("mine", F_OK));
	SHOW(access("others", W_OK));
	SHOW(access("others", R_OK));
	SHOW(access("closed/in", F_OK));
	SHOW(access("searched", X_OK));
	SHOW(faccessat(AT_FDCWD, "mine", R_OK, AT_EACCESS));
	char b[99];
	SHOW(readlink("toclosed", b, sizeof b));
	SHOW(readlink("closed/link", b, sizeof b));
}

static void names(void)
{
	SHOW(mkdir("new", 0777));
	SHOW(mkdir("closed", 0777));
	SHOW(mkdir("free/new", 0777));
	SHOW(symlink("x", "newlink"));
	SHOW(mkfifo("fifo", 0666));
	SHOW(link("writable", "searched/link"));
	SHOW(link("writable", "free/link"));
	SHOW(link("yours", "free/yours"));
	SHOW(link("closed/in", "free/in"));
	SHOW(link("mine", "others"));
	SHOW(unlink("mine"));
	SHOW(unlink("missing"));
	SHOW(unlink("searched/in"));
	SHOW(rmdir("closed"));
	SHOW(unlink("free/roots"));
	SHOW(rename("sticky/roots", "sticky/other"));
	SHOW(unlink("sticky/roots"));
	SHOW(rmdir("sticky/dir"));
	TRY("sticky/own", O_CREAT | O_WRONLY);
	SHOW(rename("sticky/own", "sticky/roots"));
	SHOW(rename("sticky/own", "sticky/own2"));
	see("sticky/own2");
	SHOW(unlink("sticky/own2"));
	SHOW(rename("others", "free/others"));
	SHOW(rename("free/dir", "free/dir2"));
	SHOW(rename("free/dir2", "sticky/dir2"));
	SHOW(rename("free/new", "sticky/new"));
	SHOW(rename("missing", "closed/x"));
	see("free/new");
	see("sticky/new");
}

static void attributes(void)
{
	struct timeval tv[2] = {{1, 0}, {2, 0}};
	SHOW(chmod("mine", 0777));
	SHOW(chmod("yours", 0640));
	SHOW(chown("yours", 0, -1));
	SHOW(chown("yours", 1001, -1));
	SHOW(chown("yours", -1, 2002));
	SHOW(chown("yours", -1, 3003));
	SHOW(chown("others", 1001, -1));
	SHOW(chown("others", -1, -1));
	see("yours");
	SHOW(chmod("yours", 02755));
	see("yours");
	SHOW(utime("others", NULL));
	SHOW(utimes("others", tv));
	SHOW(utimes("notowner", NULL));
	SHOW(utimes("yours", tv));
	SHOW(utimes("writable", NULL));
	SHOW(utimes("writable", tv));
	SHOW(truncate("others", 0));
	SHOW(truncate("writable", 0));
	SHOW(truncate("closed/in", 0));
	int fd = MUST(open("others", O_RDONLY));
	SHOW(fchmod(fd, 0777));
	SHOW(fchown(fd, 1001, -1));
	SHOW(futimens(fd, NULL));
	close(fd);
	SHOW(execl("mine", "mine", NULL));
	SHOW(execl("others", "others", NULL));
	SHOW(execl("closed/in", "in", NULL));
}

int main(void)
{
	umask(0);
	MUST(chmod(".", 0755));
	put("mine", 0600, 0, 0);
	put("group", 0640, 0, 2002);
	put("others", 0644, 0, 0);
	put("writable", 0666, 0, 0);
	put("notowner", 0077, 1001, 1001);
	put("yours", 0600, 1001, 1001);
	putdir("closed", 0700, 0, 0);
	put("closed/in", 0666, 0, 0);
	MUST(symlink("x", "closed/link"));
	putdir("listed", 0744, 0, 0);
	put("listed/in", 0666, 0, 0);
	putdir("searched", 0711, 0, 0);
	put("searched/in", 0666, 0, 0);
	putdir("free", 0777, 0, 0);
	put("free/roots", 0600, 0, 0);
	putdir("free/dir", 0755, 0, 0);
	putdir("sticky", 01777, 0, 0);
	put("sticky/roots", 0666, 0, 0);
	putdir("sticky/dir", 0777, 0, 0);
	MUST(symlink("searched/in", "tolink"));
	MUST(symlink("closed/in", "toclosed"));
	MUST(symlink("searched/made", "dangling"));
	AS(1001, 1001, 2002) reach();
	AS(1002, 1002, 1002) reach();
	AS(1001, 1001, 1001) names();
	AS(1001, 1001, 2002) attributes();
	see("yours");
	see("sticky/roots");
}
