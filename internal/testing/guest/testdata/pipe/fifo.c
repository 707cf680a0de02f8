// A named pipe: opening waits for the other end.
#include "guest.h"

int main(void)
{
	char b[16] = {0};
	struct stat st;
	SHOW(mkfifo("f", 0600));
	SHOW(mkfifo("f", 0600));
	SHOW(stat("f", &st));
	SURE(S_ISFIFO(st.st_mode));
	SHOW(open("f", O_WRONLY | O_NONBLOCK));
	pid_t child = fork();
	if (child == 0) {
		int w = MUST(open("f", O_WRONLY));
		MUST(write(w, "through", 7));
		_exit(0);
	}
	int r = MUST(open("f", O_RDONLY));
	SHOW(read(r, b, 16));
	printf("%s\n", b);
	SHOW(read(r, b, 16));
	show_wait("writer", child);
	int w = MUST(open("f", O_WRONLY | O_NONBLOCK));
	MUST(fcntl(r, F_SETFL, O_NONBLOCK));
	SHOW(read(r, b, 16));
	SHOW(write(w, "again", 5));
	SHOW(read(r, b, 16));
	close(w);
	SHOW(read(r, b, 16));
	close(r);
	int rw = MUST(open("f", O_RDWR));
	SHOW(write(rw, "self", 4));
	SHOW(read(rw, b, 16));
	SHOW(lseek(rw, 0, SEEK_SET));
	SHOW(unlink("f"));
	SHOW(open("f", O_RDONLY));
}
