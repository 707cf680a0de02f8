// Locks of a killed process are gone, but for those on an open file that another still has.
#include "kill.h"
#include <sys/file.h>

static int shared_file;

static void act(void)
{
	int a = MUST(open("a", O_RDWR | O_CREAT, 0600)), b = MUST(open("b", O_RDWR | O_CREAT, 0600));
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 10};
	MUST(flock(a, LOCK_EX));
	MUST(fcntl(b, F_SETLK, &l));
	MUST(flock(shared_file, LOCK_EX));
	struct flock o = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	MUST(fcntl(shared_file, F_OFD_SETLK, &o));
}

static void look(void)
{
	int a = MUST(open("a", O_RDWR)), b = MUST(open("b", O_RDWR)), c = MUST(open("c", O_RDWR));
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 9, .l_len = 1}, o = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	SHOW(flock(a, LOCK_EX | LOCK_NB));
	SHOW(fcntl(b, F_SETLK, &l));
	SHOW(flock(c, LOCK_EX | LOCK_NB));
	SHOW(fcntl(c, F_OFD_SETLK, &o));
	close(a);
	close(b);
	close(c);
}

int main(void)
{
	shared_file = MUST(open("c", O_RDWR | O_CREAT, 0600));
	pid_t v = victim(act);
	look();
	slay(v);
	look();
	close(shared_file);
	look();
}
