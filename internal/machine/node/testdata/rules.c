// rules NAME: what a rule of docs/guides/storage.md is about, in the directory in which it runs. It does the
// first part, has everything written to the disk, does the second part, and waits (power_rules_test.go).
// With a second argument it writes nothing to the disk in between, and ends. Without arguments it lists the rules.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#define PAGE 4096
#define must(call) must_(call, #call)

static long must_(long r, const char *what)
{
	if (r < 0) {
		perror(what);
		exit(1);
	}
	return r;
}

static int f = -1, g = -1; // descriptors that the first part leaves to the second

static const char *full(char c)
{
	static char b[4 * PAGE] __attribute__((aligned(PAGE)));
	return memset(b, c, sizeof b);
}

static void put(int fd, char c, size_t n, off_t at) { must(pwrite(fd, full(c), n, at)); }

// file makes a file that holds c, n times.
static int file(const char *name, char c, size_t n)
{
	int fd = must(open(name, O_RDWR | O_CREAT | O_EXCL, 0644));
	put(fd, c, n, 0);
	return fd;
}

static int reopen(const char *name, int flags) { return must(open(name, O_RDWR | flags)); }
static void sync_dir(void)
{
	int d = must(open(".", O_RDONLY | O_DIRECTORY));
	must(fsync(d));
}
static void shift(int mode, off_t at, off_t n) { must(fallocate(f, mode, at, n)); }
static void move(const char *from, const char *to, unsigned flags) { must(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags)); }

static void nothing(void) {}
static void f0(void) { f = must(open("f", O_RDWR | O_CREAT, 0644)); }
static void f1(void) { f = file("f", 'a', 1); }
static void f2(void) { f = file("f", 'a', 2); }
static void f1k(void) { f = file("f", 'a', 1024); }
static void f4k(void) { f = file("f", 'a', PAGE); }
static void f8k(void) { f = file("f", 'a', 2 * PAGE); }
static void f4kb4k(void) { f4k(); put(f, 'b', PAGE, PAGE); }
static void g1(void) { g = file("g", 'b', 1); }
static void f1g1(void) { f1(); g1(); }
static void dir(void) { must(mkdir("d", 0755)); }

static void overwrite(void) { put(f, 'b', 2 * PAGE, 0); }
static void twice(void) { put(f, 'b', 1, 0); put(f, 'c', 1, 0); }
static void two_files(void) { put(f, 'c', 1, 0); put(g, 'd', 1, 0); }
static void sectors(void) { put(f, 'b', 1024, 0); }
static void append(void) { f = reopen("f", O_APPEND); must(write(f, full('b'), 2)); }
static void append_pages(void) { put(f, 'a', 2 * PAGE, 0); }
static void append_dir(void) { put(f, 'b', 1, 1); close(f); dir(); }
static void append_dir_datasync(void) { put(f, 'b', 1, 1); dir(); must(fdatasync(f)); }
static void write_vectors(void)
{
	struct iovec v[2] = {{"b", 1}, {"c", 1}};
	must(pwritev2(f, v, 2, 0, RWF_DSYNC));
	must(pwritev(f, v, 2, 2));
}

static void cut(void) { must(ftruncate(f, PAGE)); }
static void grow(void) { must(truncate("f", 5)); }
static void cut_grow(void) { must(ftruncate(f, 1)); must(ftruncate(f, 2)); }
static void rewrite(void) { int fd = must(open("f", O_WRONLY | O_TRUNC)); put(fd, 'b', 1, 0); close(fd); }
static void rewrite_dir(void) { rewrite(); dir(); }
static void hole(void) { dir(); must(ftruncate(f, PAGE)); put(f, 'a', PAGE, 0); }

static void allocate(void) { shift(0, 0, PAGE); }
static void allocate_keep(void) { shift(FALLOC_FL_KEEP_SIZE, 0, 2 * PAGE); }
static void punch(void) { shift(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGE); }
static void punch_write(void) { punch(); put(f, 'b', PAGE, 0); }
static void zero(void) { shift(FALLOC_FL_ZERO_RANGE, PAGE, PAGE); }
static void zero_grow(void) { shift(FALLOC_FL_ZERO_RANGE, 0, PAGE); }
static void zero_keep(void) { shift(FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, 0, PAGE); }
static void collapse(void) { shift(FALLOC_FL_COLLAPSE_RANGE, 0, PAGE); }
static void insert(void) { shift(FALLOC_FL_INSERT_RANGE, PAGE, PAGE); }

static void create_sync(void) { f1(); must(fsync(f)); }
static void create_sync_both(void) { create_sync(); sync_dir(); }
static void create_sync_dir(void) { f1(); sync_dir(); }
static void create_datasync_dir(void) { f0(); int d = must(open(".", O_RDONLY)); must(fdatasync(d)); }

static void rename_f(void) { move("f", "h", 0); }
static void rename_noreplace(void) { move("f", "h", RENAME_NOREPLACE); }
static void rename_over(void) { move("f", "g", 0); }
static void rename_exchange(void) { move("f", "g", RENAME_EXCHANGE); }
static void rename_two(void) { move("f", "h", 0); move("g", "i", 0); }
static void replace(void) { f1(); close(f); move("f", "g", 0); }
static void replace_synced(void) { f1(); must(fsync(f)); move("f", "g", 0); }
static void rename_sync(void) { rename_f(); must(fsync(f)); }
static void rename_datasync(void) { rename_f(); must(fdatasync(f)); }
static void three_dirs(void) { dir(); must(mkdir("e", 0755)); must(mkdir("k", 0755)); }
static void move_dirs(void) { move("d", "e/d", 0); move("k", "e/d/k", 0); }
static void two_dirs(void) { dir(); must(mkdir("e", 0755)); }
static void rename_over_dir(void) { move("d", "e", 0); }

static void link_f(void) { must(link("f", "h")); }
static void link_unlink(void) { link_f(); must(unlink("f")); }
static void unlink_f(void) { must(unlink("f")); }
static void mkdir_file(void) { dir(); close(must(open("d/x", O_CREAT | O_WRONLY, 0644))); }
static void rmdir_d(void) { must(rmdir("d")); }
static void empty_rmdir(void) { must(unlink("d/x")); rmdir_d(); }
static void symlink_s(void) { must(symlink("f", "s")); }
static void fifo(void) { must(mknod("p", S_IFIFO | 0644, 0)); }
static void bind_s(void)
{
	struct sockaddr_un a = {AF_UNIX, "s"};
	must(bind(must(socket(AF_UNIX, SOCK_STREAM, 0)), (struct sockaddr *)&a, sizeof a));
}

static void mode(void) { must(chmod("f", 0600)); }
static void mode_sync(void) { mode(); must(fsync(f)); }
static void mode_datasync(void) { mode(); must(fdatasync(f)); }
static void owner(void) { must(chown("f", 1, 2)); }
static void times(void) { must(utimensat(AT_FDCWD, "f", (struct timespec[]){{5}, {6}}, 0)); }
static void xattr(void) { must(setxattr("f", "user.a", "1", 1, 0)); }
static void xattr_twice(void) { xattr(); must(fsetxattr(f, "user.a", "2", 1, 0)); }
static void f1_xattr(void) { f1(); xattr(); }
static void xattr_remove(void) { must(removexattr("f", "user.a")); }

static void o_sync(void) { f = must(open("f", O_CREAT | O_WRONLY | O_SYNC, 0644)); must(write(f, "a", 1)); }
static void o_sync_mode(void) { mode(); f = reopen("f", O_SYNC); put(f, 'b', 1, 0); }
static void o_dsync_mode(void) { mode(); f = reopen("f", O_DSYNC); put(f, 'b', 1, 0); }
static void o_dsync_pages(void) { put(f, 'b', PAGE, PAGE); f = reopen("f", O_DSYNC); put(f, 'b', PAGE, 0); }
static void o_direct(void) { f = reopen("f", O_DIRECT); put(f, 'b', PAGE, PAGE); dir(); }
static void not_direct(void) { put(f, 'b', PAGE, PAGE); dir(); }

static void range(void) { put(f, 'b', 1, 0); must(sync_file_range(f, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER)); }
static void datasync(void) { put(f, 'b', 1, 1); must(fdatasync(f)); }
static void dir_sync(void) { dir(); put(f, 'b', 1, 0); must(fsync(f)); }
static void dir_allocating_sync(void) { dir(); put(f, 'a', 1, 0); must(fsync(f)); }
static void syncfs_all(void) { f1(); dir(); must(syncfs(f)); }
static void syncfs_other(void) { f1(); must(syncfs(must(open("/dev/shm", O_RDONLY)))); }
static void sync_all(void) { f1(); dir(); sync(); }

static void copy(void) { must(copy_file_range(g, &(off_t){0}, f, &(off_t){0}, 1, 0)); }
static void send_in(void) { must(lseek(f, 0, SEEK_SET)); must(sendfile(f, g, &(off_t){0}, 1)); }
static void splice_in(void)
{
	int p[2];
	must(pipe(p));
	must(write(p[1], "b", 1));
	must(splice(p[0], 0, f, &(off_t){0}, 1, 0));
}

static void submit(int op, int fd, void *buf, size_t n)
{
	aio_context_t c = 0;
	struct iocb b = {.aio_lio_opcode = op, .aio_fildes = fd, .aio_buf = (unsigned long)buf, .aio_nbytes = n};
	struct iocb *list[] = {&b};
	struct io_event e;
	must(syscall(SYS_io_setup, 1, &c));
	must(syscall(SYS_io_submit, c, 1, list));
	must(syscall(SYS_io_getevents, c, 1, 1, &e, 0));
	must(e.res);
}
static void submit_write(void) { submit(IOCB_CMD_PWRITE, f, "b", 1); }
static void submit_fsync(void) { submit_write(); submit(IOCB_CMD_FSYNC, f, 0, 0); }
static void submit_fdsync(void) { submit_write(); submit(IOCB_CMD_FDSYNC, f, 0, 0); }

static void removed(void) { must(unlink("f")); put(f, 'b', 1, 0); }
static void renamed_over(void) { move("f", "g", 0); put(g, 'c', 1, 0); }
static int tmpfile_a(void) { int fd = must(open(".", O_TMPFILE | O_RDWR, 0644)); put(fd, 'a', 1, 0); return fd; }
static void named(int fd, const char *name)
{
	char from[64];
	sprintf(from, "/proc/self/fd/%d", fd);
	must(linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW));
}
static void nameless(void) { named(tmpfile_a(), "f"); }
static void nameless_synced(void) { int fd = tmpfile_a(); must(fsync(fd)); named(fd, "f"); }

static char *stored(void)
{
	char *m = mmap(0, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
	return memset(m, 'b', 2 * PAGE);
}
static void map(void) { stored(); }
static void map_sync(void) { must(msync(stored(), PAGE, MS_SYNC)); }
static void map_async(void) { must(msync(stored(), 2 * PAGE, MS_ASYNC)); }
static void map_fsync(void) { stored(); must(fsync(f)); }

static void dir_file(void) { dir(); close(file("d/x", 'x', 1)); }

static const struct {
	const char *name;
	void (*before)(void), (*then)(void);
} rules[] = {
	{"overwrite", f8k, overwrite}, {"overwrite twice", f1, twice}, {"overwrite two files", f1g1, two_files}, {"sectors", f1k, sectors},
	{"append", f1, append}, {"append pages", f0, append_pages}, {"append, mkdir", f1, append_dir}, {"write vectors", f4k, write_vectors},
	{"truncate down", f8k, cut}, {"truncate up", f1, grow}, {"truncate down, up", f2, cut_grow},
	{"O_TRUNC, write", f1, rewrite}, {"O_TRUNC, write, close, mkdir", f1, rewrite_dir}, {"write into a hole", f0, hole},
	{"fallocate", f1, allocate}, {"fallocate, size kept", f1, allocate_keep}, {"punch", f8k, punch}, {"punch, write", f4k, punch_write},
	{"zero", f8k, zero}, {"zero beyond the end", f1, zero_grow}, {"zero, size kept", f1, zero_keep}, {"collapse", f4kb4k, collapse}, {"insert", f4kb4k, insert},
	{"create", nothing, f0}, {"create, write", nothing, f1}, {"create, write, fsync", nothing, create_sync},
	{"create, write, fsync, fsync of directory", nothing, create_sync_both}, {"create, write, fsync of directory", nothing, create_sync_dir},
	{"create, fdatasync of directory", nothing, create_datasync_dir},
	{"rename", f1, rename_f}, {"rename NOREPLACE", f1, rename_noreplace}, {"rename over", f1g1, rename_over}, {"rename EXCHANGE", f1g1, rename_exchange},
	{"rename two", f1g1, rename_two}, {"replace", g1, replace}, {"replace, synced", g1, replace_synced}, {"rename, fsync", f1, rename_sync}, {"rename, fdatasync", f1, rename_datasync},
	{"rename directories", three_dirs, move_dirs}, {"rename over a directory", two_dirs, rename_over_dir},
	{"link", f1, link_f}, {"link, unlink", f1, link_unlink}, {"unlink", f1, unlink_f}, {"mkdir", nothing, dir}, {"mkdir, create", nothing, mkdir_file},
	{"rmdir", dir, rmdir_d}, {"unlink, rmdir", dir_file, empty_rmdir}, {"symlink", nothing, symlink_s}, {"mknod", nothing, fifo}, {"bind", nothing, bind_s},
	{"chmod", f1, mode}, {"chmod, fsync", f1, mode_sync}, {"chmod, fdatasync", f1, mode_datasync}, {"chown", f1, owner}, {"utimensat", f1, times},
	{"setxattr", f1, xattr}, {"setxattr twice", f1, xattr_twice}, {"removexattr", f1_xattr, xattr_remove},
	{"O_SYNC", nothing, o_sync}, {"chmod, O_SYNC", f1, o_sync_mode}, {"chmod, O_DSYNC", f1, o_dsync_mode}, {"O_DSYNC, another page", f8k, o_dsync_pages},
	{"O_DIRECT, mkdir", f4k, o_direct}, {"append a page, mkdir", f4k, not_direct},
	{"sync_file_range", f1, range}, {"append, fdatasync", f1, datasync}, {"append, mkdir, fdatasync", f1, append_dir_datasync}, {"mkdir, overwrite, fsync", f1, dir_sync}, {"mkdir, append, fsync", f0, dir_allocating_sync},
	{"syncfs", nothing, syncfs_all}, {"syncfs of memory", nothing, syncfs_other}, {"sync", nothing, sync_all},
	{"copy_file_range", f1g1, copy}, {"sendfile", f1g1, send_in}, {"splice", f1, splice_in},
	{"io_submit", f1, submit_write}, {"io_submit FSYNC", f1, submit_fsync}, {"io_submit FDSYNC", f1, submit_fdsync},
	{"removed while open", f1, removed}, {"renamed over while open", f1g1, renamed_over}, {"O_TMPFILE, linkat", nothing, nameless}, {"O_TMPFILE, fsync, linkat", nothing, nameless_synced},
	{"mmap", f8k, map}, {"mmap, msync", f8k, map_sync}, {"mmap, msync MS_ASYNC", f8k, map_async}, {"mmap, fsync", f8k, map_fsync},
};

int main(int argc, char **argv)
{
	umask(0);
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		if (argc == 1) {
			puts(rules[i].name);
			continue;
		}
		if (strcmp(argv[1], rules[i].name))
			continue;
		rules[i].before();
		if (argc == 2)
			sync();
		rules[i].then();
		puts("done");
		fflush(stdout);
		if (argc == 2)
			pause();
		_exit(0);
	}
	return argc > 1;
}
