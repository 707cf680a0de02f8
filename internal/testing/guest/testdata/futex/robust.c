// The kernel marks the futexes of a dead owner and wakes a waiter.
#include "futex.h"
#include <linux/futex.h>

struct node {
	struct robust_list link;
	int word;
};

static struct node *n;

static void *owner(void *x)
{
	static struct robust_list_head head;
	head.list.next = &n->link;
	n->link.next = &head.list;
	head.futex_offset = offsetof(struct node, word);
	MUST(syscall(SYS_set_robust_list, &head, sizeof head));
	n->word = gettid() | FUTEX_WAITERS;
	rest(0);
	syscall(SYS_exit, 0);
	return x;
}

int main(void)
{
	struct robust_list_head *h;
	size_t len;
	n = shared(4096);
	SHOW(syscall(SYS_set_robust_list, n, 3));
	SHOW(syscall(SYS_get_robust_list, 0, &h, &len));
	SHOW(len == sizeof *h);
	pthread_t t = start(owner, NULL);
	(void)t;
	while (n->word == 0)
		nap(1);
	SHOW(futex(&n->word, FUTEX_WAIT, n->word, NULL, NULL, 0));
	SURE(n->word & FUTEX_OWNER_DIED);
	SURE((n->word & FUTEX_TID_MASK) == 0);
}
