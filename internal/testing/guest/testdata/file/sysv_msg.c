// System V message queues: order, types, sizes.
#include "guest.h"
#include <sys/ipc.h>
#include <sys/msg.h>

struct m {
	long type;
	char text[16];
};

int main(void)
{
	struct m a = {1, "one"}, b = {2, "two"}, c = {1, "uno"}, r = {0};
	int q = MUST(msgget(IPC_PRIVATE, IPC_CREAT | 0600));
	SHOW(msgsnd(q, &a, 4, 0));
	SHOW(msgsnd(q, &b, 4, 0));
	SHOW(msgsnd(q, &c, 4, 0));
	SHOW(msgrcv(q, &r, 16, 2, 0));
	printf("%ld %s\n", r.type, r.text);
	SHOW(msgrcv(q, &r, 16, 0, 0));
	printf("%ld %s\n", r.type, r.text);
	SHOW(msgrcv(q, &r, 2, 0, IPC_NOWAIT));
	SHOW(msgrcv(q, &r, 2, 0, IPC_NOWAIT | MSG_NOERROR));
	SHOW(msgrcv(q, &r, 16, 0, IPC_NOWAIT));
	pid_t child = fork();
	if (child == 0) {
		nap(20);
		msgsnd(q, &b, 4, 0);
		_exit(0);
	}
	SHOW(msgrcv(q, &r, 16, -3, 0));
	show_wait("child", child);
	a.type = 0;
	SHOW(msgsnd(q, &a, 4, 0));
	SHOW(msgctl(q, IPC_RMID, NULL));
	SHOW(msgsnd(q, &b, 4, 0));
}
