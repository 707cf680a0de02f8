// What madvise(2) says of memory in children.
#include "guest.h"

enum { PAGE = 4096 };

static char *pages(int n)
{
	char *m = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(m == MAP_FAILED ? -1 : 0);
	for (int i = 0; i < n; i++)
		m[i * PAGE] = 'a' + i;
	return m;
}

static void tell(const char *what, char *m, int n)
{
	char s[99], *p = s;
	for (int i = 0; i < n; i++) {
		unsigned char in;
		*p++ = mincore(m + i * PAGE, PAGE, &in) ? '-' : m[i * PAGE] ? m[i * PAGE] : '0';
	}
	*p = 0;
	printf("%s: %s\n", what, s);
}

// in_child tells what a child has, and a child of it.
static void in_child(const char *what, char *m, int n)
{
	char line[99];
	pid_t pid = fork();
	if (pid == 0) {
		snprintf(line, sizeof line, "%s, child", what);
		tell(line, m, n);
		for (int i = 0; i < n; i++) {
			unsigned char in;
			if (!mincore(m + i * PAGE, PAGE, &in))
				m[i * PAGE] = 'A' + i;
		}
		if ((pid = fork()) == 0) {
			snprintf(line, sizeof line, "%s, grandchild", what);
			tell(line, m, n);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	tell(what, m, n);
}

int main(void)
{
	char *m = pages(8);
	SHOW(madvise(m + PAGE, 3 * PAGE, MADV_DONTFORK));
	in_child("not forked", m, 8);
	SHOW(madvise(m + 2 * PAGE, PAGE, MADV_DOFORK));
	in_child("forked again", m, 8);
	SHOW(madvise(m + 5 * PAGE, 2 * PAGE, MADV_WIPEONFORK));
	in_child("wiped", m, 8);
	SHOW(madvise(m + 6 * PAGE, PAGE, MADV_KEEPONFORK));
	SHOW(madvise(m + 3 * PAGE, PAGE, MADV_WIPEONFORK));
	in_child("both", m, 8);
	SHOW(madvise(m + 3 * PAGE, PAGE, MADV_DOFORK));
	in_child("only wiped", m, 8);

	// The advice stays with the memory, not with its address.
	SHOW(mprotect(m + PAGE, PAGE, PROT_READ));
	SHOW(mprotect(m + PAGE, PAGE, PROT_READ | PROT_WRITE));
	in_child("protected", m, 8);
	SHOW(munmap(m + PAGE, PAGE));
	SURE(mmap(m + PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == m + PAGE);
	m[PAGE] = 'n';
	in_child("mapped anew", m, 8);
	char *k = pages(1);
	SHOW(madvise(k, PAGE, MADV_WIPEONFORK));
	char *to = mremap(k, PAGE, 3 * PAGE, MREMAP_MAYMOVE);
	SURE(to != MAP_FAILED);
	in_child("moved", to, 3);

	// Advice that is nothing to forks does not meet these.
	char *o = pages(4);
	SHOW(madvise(o, PAGE, MADV_RANDOM));
	SHOW(madvise(o + PAGE, PAGE, MADV_DONTDUMP));
	SHOW(madvise(o + 2 * PAGE, PAGE, MADV_DONTFORK));
	SHOW(madvise(o + 2 * PAGE, PAGE, MADV_NORMAL));
	SHOW(madvise(o + 3 * PAGE, PAGE, MADV_WIPEONFORK));
	SHOW(madvise(o + 3 * PAGE, PAGE, MADV_DODUMP));
	SHOW(madvise(o, 4 * PAGE, MADV_SEQUENTIAL));
	in_child("other advice", o, 4);

	// Errors, and what is done before them.
	char *h = pages(4);
	SHOW(madvise(h + 1, PAGE, MADV_DONTFORK));
	SHOW(madvise(h, 0, MADV_WIPEONFORK));
	MUST(munmap(h + PAGE, PAGE));
	SHOW(madvise(h, 3 * PAGE, MADV_DONTFORK));
	in_child("over a hole", h, 4);
	SHOW(madvise(h, 3 * PAGE, MADV_DOFORK));
	SHOW(madvise(h, 3 * PAGE, MADV_RANDOM));
	char *s = shared(PAGE);
	SHOW(madvise(s, PAGE, MADV_WIPEONFORK));
	SHOW(madvise(s, PAGE, MADV_DONTFORK));
	*s = 's';
	in_child("shared", s, 1);
	char *w = pages(3);
	MUST(mmap(w + PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, open("/proc/self/exe", O_RDONLY), 0) == MAP_FAILED ? -1 : 0);
	SHOW(madvise(w, 3 * PAGE, MADV_WIPEONFORK));
	SHOW(madvise(w, 3 * PAGE, MADV_KEEPONFORK));
	SHOW(madvise(w, PAGE, MADV_WIPEONFORK));
	SHOW(madvise(w, PAGE, MADV_KEEPONFORK));
	SHOW(madvise(w, 3 * PAGE, MADV_WIPEONFORK));
	if (fork() == 0) {
		tell("before a file", w, 1);
		tell("after it", w + 2 * PAGE, 1);
		_exit(0);
	}
	wait(NULL);

	// vfork shares all memory.
	if (vfork() == 0) {
		tell("vfork", m, 8);
		_exit(0);
	}
	SURE(mmap(NULL, PAGE, PROT_READ, 8 | MAP_ANONYMOUS, -1, 0) != MAP_FAILED || errno == EINVAL);
}
