// Paths and locks are read when a call begins, and where they lead is found then.
#include "argument.h"

static char path[64];
static int fd, opened;
static struct flock lock;

static void *opens(void *x) { opened = open(path, O_RDONLY); SURE(opened >= 0); return x; }
static void *writes(void *x) { opened = open(path, O_WRONLY); SURE(opened >= 0); return x; }
static void *locks(void *x) { SHOW(fcntl(fd, F_OFD_SETLKW, &lock)); return x; }
static void *cuts(void *x) { SHOW(truncate(path, 1)); return x; }

// locked prints which bytes another open file may not lock.
static void locked(const char *what)
{
	int other = open("l", O_RDWR);
	printf("%s:", what);
	for (int i = 0; i < 12; i++) {
		struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = i, .l_len = 1};
		if (fcntl(other, F_OFD_GETLK, &l) == 0 && l.l_type != F_UNLCK)
			printf(" %d", i);
	}
	puts("");
	close(other);
}

int main(void)
{
	char dir[] = "/tmp/argumentXXXXXX";
	MUST(mkdtemp(dir) ? 0 : -1), MUST(chdir(dir));
	MUST(mkfifo("f", 0600)), MUST(mkfifo("g", 0600));
	close(MUST(open("file", O_CREAT | O_RDWR, 0600)));
	strcpy(path, "f");
	pthread_t t = waits(opens);
	int w = -1;
	MEANWHILE(strcpy(path, "file"), w = MUST(open("f", O_WRONLY)));
	joined(t);
	char b[8];
	SHOW(write(w, "abc", 3));
	SHOW(read(opened, b, 8));
	close(w), close(opened);

	// The name leads elsewhere, or nowhere, while somebody waits.
	strcpy(path, "f");
	t = waits(writes);
	int r = open("f", O_RDONLY | O_NONBLOCK); // somebody to hold what the name has led to
	joined(t);
	close(opened);
	t = waits(opens);
	MEANWHILE((rename("f", "h"), rename("g", "f")), w = MUST(open("h", O_WRONLY)));
	joined(t);
	SHOW(write(w, "de", 2));
	SHOW(read(opened, b, 8));
	close(w), close(opened), close(r);
	t = waits(opens);
	int keeps = open("f", O_PATH);
	char name[32];
	snprintf(name, sizeof name, "/proc/self/fd/%d", keeps);
	MEANWHILE(unlink("f"), w = MUST(open(name, O_WRONLY)));
	joined(t);
	SHOW(write(w, "f", 1));
	SHOW(read(opened, b, 8));
	close(w), close(opened);

	int other = MUST(open("l", O_CREAT | O_RDWR, 0600));
	fd = open("l", O_RDWR);
	lock = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 4};
	MUST(fcntl(other, F_OFD_SETLK, &lock));
	lock = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 2, .l_len = 4};
	t = waits(locks);
	struct flock un = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
	MEANWHILE((lock.l_start = 8, lock.l_type = F_RDLCK), fcntl(other, F_OFD_SETLK, &un));
	joined(t);
	locked("lock");
	fcntl(fd, F_OFD_SETLK, &un);
	lock = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 4};
	MUST(fcntl(other, F_OFD_SETLK, &lock));
	lseek(fd, 3, SEEK_SET);
	lock = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_start = 0, .l_len = 2};
	t = waits(locks);
	MEANWHILE(lseek(fd, 9, SEEK_SET), fcntl(other, F_OFD_SETLK, &un));
	joined(t);
	locked("lock from the position");

	// A lease is given up when its holder is told.
	on(SIGIO, nothing, SA_RESTART);
	int held = open("file", O_RDONLY), big = open("big", O_CREAT | O_RDWR, 0600);
	write(big, "0123456789", 10);
	SHOW(fcntl(held, F_SETLEASE, F_RDLCK));
	strcpy(path, "file");
	t = waits(writes);
	MEANWHILE(strcpy(path, "big"), fcntl(held, F_SETLEASE, F_UNLCK));
	joined(t);
	struct stat st, st2;
	fstat(opened, &st), fstat(held, &st2);
	SURE(st.st_ino == st2.st_ino);
	close(opened);
	SHOW(fcntl(held, F_SETLEASE, F_RDLCK));
	strcpy(path, "file");
	t = waits(cuts);
	MEANWHILE(strcpy(path, "big"), fcntl(held, F_SETLEASE, F_UNLCK));
	joined(t);
	fstat(big, &st), fstat(held, &st2);
	printf("truncate: %ld %ld\n", (long)st.st_size, (long)st2.st_size);
	const char *made[] = {"big", "file", "h", "l"};
	for (unsigned i = 0; i < sizeof made / sizeof *made; i++)
		unlink(made[i]);
	SHOW(rmdir(dir));
}
