// Children that are somebody else.
#include "guest.h"
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

// AS runs what follows in a child that has become a user altogether, with these
// supplementary groups, and waits for it.
#define AS(uid, gid, ...)                                                                        \
	for (pid_t child_ = become(uid, gid, (gid_t[]){__VA_ARGS__}, sizeof((gid_t[]){__VA_ARGS__}) / sizeof(gid_t)), once_ = 1; once_; \
	     once_ = 0, child_ ? leave(child_) : _exit(0))                                       \
		if (!child_)

static inline pid_t become(uid_t uid, gid_t gid, const gid_t *groups, size_t n)
{
	fflush(stdout);
	pid_t child = MUST(fork());
	if (child)
		return child;
	MUST(setgroups(n, groups));
	MUST(setresgid(gid, gid, gid));
	MUST(setresuid(uid, uid, uid));
	printf("-- as %d\n", (int)uid);
	return 0;
}

static inline void leave(pid_t child)
{
	int st;
	MUST(waitpid(child, &st, 0));
	if (st)
		show_status("child", st);
}

// caps sets the effective, permitted and inheritable capabilities.
static inline int caps(uint64_t effective, uint64_t permitted, uint64_t inheritable)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct d[2] = {{effective, permitted, inheritable}, {effective >> 32, permitted >> 32, inheritable >> 32}};
	return syscall(SYS_capset, &h, d);
}

#define CAP(c) (UINT64_C(1) << (c))

// put makes a file with a mode and an owner.
static inline void put(const char *name, mode_t mode, uid_t uid, gid_t gid)
{
	int fd = MUST(open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600));
	MUST(write(fd, "text\n", 5));
	MUST(fchown(fd, uid, gid));
	MUST(fchmod(fd, mode));
	close(fd);
}

static inline void putdir(const char *name, mode_t mode, uid_t uid, gid_t gid)
{
	MUST(mkdir(name, 0700));
	MUST(chown(name, uid, gid));
	MUST(chmod(name, mode));
}

static inline void see(const char *name)
{
	struct stat st;
	if (lstat(name, &st) < 0)
		printf("%s: %s\n", name, strerrorname_np(errno));
	else
		printf("%s: %o %d:%d\n", name, st.st_mode & 07777, (int)st.st_uid, (int)st.st_gid);
}

// TRY opens a file and closes it.
#define TRY(name, flags) try_("open " name " " #flags, open(name, flags, 0666))
static inline void try_(const char *what, int fd)
{
	printf("%s: %s\n", what, fd < 0 ? strerrorname_np(errno) : "done");
	if (fd >= 0)
		close(fd);
}
