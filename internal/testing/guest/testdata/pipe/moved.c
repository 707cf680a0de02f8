// splice, sendfile, tee and vmsplice of nothing, from and to what is no file, or cannot be moved.
#include "guest.h"
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

int main(void)
{
	int p[2], q[2], s[2];
	MUST(pipe(p));
	MUST(pipe(q));
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	int e = MUST(eventfd(3, EFD_NONBLOCK)), f = MUST(open("file", O_RDWR | O_CREAT, 0600)), bad = 999;
	MUST(write(f, "0123456789", 10));
	MUST(write(p[1], "pipe", 4));
	int all[] = {bad, p[0], p[1], q[1], s[0], e, f};
	const char *names[] = {"nothing", "a pipe to read", "a pipe to write", "another to write", "a socket", "an eventfd", "a file"};
	for (int i = 0; i < 7; i++)
		for (int j = 0; j < 7; j++) {
			printf("%s to %s\n", names[i], names[j]);
			SHOW(splice(all[i], 0, all[j], 0, 0, SPLICE_F_NONBLOCK));
			SHOW(sendfile(all[j], all[i], 0, 0));
			SHOW(tee(all[i], all[j], 0, SPLICE_F_NONBLOCK));
			if (all[i] == bad || all[j] == bad) {
				SHOW(splice(all[i], 0, all[j], 0, 5, SPLICE_F_NONBLOCK));
				SHOW(sendfile(all[j], all[i], 0, 5));
				SHOW(tee(all[i], all[j], 5, SPLICE_F_NONBLOCK));
				SHOW(copy_file_range(all[i], 0, all[j], 0, 5, 0));
			}
			SHOW(copy_file_range(all[i], 0, all[j], 0, 0, 0));
		}
	loff_t at = 0, *wild = (loff_t *)8;
	SHOW(splice(p[0], &at, q[1], 0, 0, 0));
	SHOW(splice(p[0], 0, q[1], &at, 0, 0));
	SHOW(splice(f, &at, q[1], 0, 0, 0));
	SHOW(splice(f, wild, q[1], 0, 0, 0));
	SHOW(splice(f, wild, q[1], 0, 1, 0));
	SHOW(splice(f, 0, q[1], 0, 0, 0x100));
	SHOW(splice(f, 0, q[1], 0, 1, 0x100));
	SHOW(splice(bad, 0, q[1], 0, 1, 0x100));
	SHOW(sendfile(s[0], f, &at, 0));
	SHOW(sendfile(s[0], f, (off_t *)wild, 0));
	SHOW(sendfile(s[0], e, &at, 0));
	SHOW(sendfile(s[0], s[1], 0, 0));
	SHOW(sendfile(e, f, 0, 0));
	SHOW(sendfile(s[0], f, 0, -1L) > 0);
	SHOW(vmsplice(bad, 0, 0, 0));
	SHOW(vmsplice(q[1], 0, 0, 0));
	SHOW(vmsplice(q[0], 0, 0, 0));
	SHOW(vmsplice(f, 0, 0, 0));
	SHOW(vmsplice(bad, (void *)8, 1, 0));
}
