// Policies of memory on a machine of one memory node, and what is wrong with others.
#include "guest.h"
#include <linux/mempolicy.h>

static long set(int mode, unsigned long mask, unsigned long max) { return syscall(SYS_set_mempolicy, mode, max ? &mask : NULL, max); }

static void get(const char *who)
{
	int mode = -1;
	unsigned long nodes[17];
	memset(nodes, 0xff, sizeof nodes);
	long r = syscall(SYS_get_mempolicy, &mode, nodes, 1024ul, NULL, 0);
	printf("%s: %ld, mode %x, nodes %lx %lx\n", who, r, mode, nodes[0], nodes[1]);
}

static void *thread(void *arg)
{
	get("a thread");
	SHOW(set(MPOL_INTERLEAVE, 1, 64));
	get("its own");
	return NULL;
}

int main(void)
{
	char page[1];
	int mode = -1;
	unsigned long nodes = 99;
	get("first");
	SHOW(set(MPOL_BIND, 1, 64));
	get("bound");
	pthread_join(start(thread, NULL), NULL);
	pid_t pid = MUST(fork());
	if (!pid) {
		get("a child");
		_exit(0);
	}
	show_wait("it", pid);
	SHOW(set(MPOL_BIND, 0, 0));
	SHOW(set(MPOL_BIND, 0, 64));
	SHOW(set(MPOL_INTERLEAVE, 0, 64));
	SHOW(set(MPOL_DEFAULT, 1, 64));
	SHOW(set(MPOL_LOCAL, 1, 64));
	SHOW(set(77, 1, 64));
	SHOW(set(MPOL_BIND | MPOL_F_STATIC_NODES | MPOL_F_RELATIVE_NODES, 1, 64));
	SHOW(syscall(SYS_set_mempolicy, MPOL_BIND, 8ul, 64ul));
	SHOW(syscall(SYS_set_mempolicy, MPOL_BIND, &nodes, 1ul << 20));
	get("as before");
	SHOW(set(MPOL_BIND | MPOL_F_STATIC_NODES, 1, 64));
	get("static");
	SHOW(set(MPOL_PREFERRED, 0, 0));
	get("preferred none");
	SHOW(set(MPOL_PREFERRED, 1, 64));
	get("preferred");
	SHOW(set(MPOL_LOCAL, 0, 0));
	get("local");
	SHOW(set(MPOL_DEFAULT, 0, 0));
	get("none");
	SHOW(syscall(SYS_get_mempolicy, NULL, NULL, 0ul, NULL, MPOL_F_MEMS_ALLOWED));
	SHOW(syscall(SYS_get_mempolicy, &mode, NULL, 0ul, page, 0ul));
	SHOW(syscall(SYS_get_mempolicy, &mode, NULL, 0ul, NULL, MPOL_F_NODE));
	SHOW(syscall(SYS_get_mempolicy, &mode, NULL, 0ul, 8ul, MPOL_F_ADDR));
	SHOW(syscall(SYS_get_mempolicy, &mode, NULL, 0ul, page, MPOL_F_ADDR));
	SHOW(syscall(SYS_get_mempolicy, &mode, NULL, 0ul, page, MPOL_F_ADDR | MPOL_F_NODE));
	SHOW(syscall(SYS_get_mempolicy, &mode, NULL, 0ul, page, 64ul));
	SHOW(syscall(SYS_get_mempolicy, &mode, NULL, 0ul, page, MPOL_F_ADDR | MPOL_F_MEMS_ALLOWED));
	char *m = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	SHOW(syscall(SYS_mbind, m, 8192ul, MPOL_BIND, &(unsigned long){1}, 64ul, 0));
	SHOW(syscall(SYS_mbind, m + 1, 4096ul, MPOL_BIND, &(unsigned long){1}, 64ul, 0));
	SHOW(syscall(SYS_mbind, m, 8192ul, MPOL_BIND, NULL, 0ul, 0));
	SHOW(syscall(SYS_mbind, m, 8192ul, MPOL_DEFAULT, &(unsigned long){1}, 64ul, 0));
	SHOW(syscall(SYS_mbind, m, 8192ul, MPOL_DEFAULT, NULL, 0ul, 64));
	SHOW(syscall(SYS_mbind, m, 8192ul, MPOL_PREFERRED, NULL, 0ul, MPOL_MF_MOVE));
	return 0;
}
