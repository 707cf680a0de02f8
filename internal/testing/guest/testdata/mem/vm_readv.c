// One process reads and writes the memory of another.
#include "guest.h"

int main(void)
{
	static char text[16] = "parent";
	char b[16] = {0};
	int p[2], q[2];
	char x;
	MUST(pipe(p));
	MUST(pipe(q));
	pid_t child = fork();
	if (child == 0) {
		strcpy(text, "child");
		MUST(write(p[1], "x", 1));
		MUST(read(q[0], &x, 1));
		_exit(strcmp(text, "poked") != 0);
	}
	MUST(read(p[0], &x, 1));
	struct iovec l = {b, 6}, r = {text, 6};
	SHOW(process_vm_readv(child, &l, 1, &r, 1, 0));
	printf("%s %s\n", b, text);
	strcpy(b, "poked");
	SHOW(process_vm_writev(child, &l, 1, &r, 1, 0));
	r.iov_base = (void *)8;
	SHOW(process_vm_readv(child, &l, 1, &r, 1, 0));
	SHOW(process_vm_readv(999999, &l, 1, &r, 1, 0));
	MUST(write(q[1], "x", 1));
	show_wait("child", child);
}
