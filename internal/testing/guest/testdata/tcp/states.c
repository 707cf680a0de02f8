// Calls in the wrong state of a socket.
#include "net.h"

int main(void)
{
	struct sockaddr_in a;
	char b[8];
	int l = listener(&a), n = MUST(socket(AF_INET, SOCK_STREAM, 0));
	SHOW(read(n, b, 8));
	SHOW(send(n, "x", 1, MSG_NOSIGNAL));
	SHOW(shutdown(n, SHUT_WR));
	SHOW(recv(l, b, 8, 0));
	SHOW(send(l, "x", 1, MSG_NOSIGNAL));
	int s = dial(&a);
	SHOW(connect(s, (struct sockaddr *)&a, sizeof a));
	SHOW(listen(s, 1));
	SHOW(connect(l, (struct sockaddr *)&a, sizeof a));
	SHOW(bind(s, (struct sockaddr *)&a, sizeof a));
	struct sockaddr_in un = {.sin_family = AF_UNSPEC};
	SHOW(connect(s, (struct sockaddr *)&un, sizeof un));
	SHOW(send(s, "x", 1, MSG_NOSIGNAL));
	SHOW(lseek(s, 0, SEEK_SET));
	SHOW(pread(s, b, 1, 0));
	SHOW(ftruncate(s, 0));
	struct stat st;
	SHOW(fstat(s, &st));
	SURE(S_ISSOCK(st.st_mode));
}
