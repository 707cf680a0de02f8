// setjmp and longjmp, contexts that hand over to one another.
#include "guest.h"
#include <ucontext.h>

static jmp_buf b;
static ucontext_t m, c;
static int turn;

static void inner(int n)
{
	if (n == 0)
		longjmp(b, 7);
	inner(n - 1);
}

static void coroutine(void)
{
	for (int i = 0; i < 3; i++) {
		printf("coroutine %d\n", turn++);
		swapcontext(&c, &m);
	}
}

int main(void)
{
	volatile int n = 0;
	int r = setjmp(b);
	printf("%d %d\n", r, n);
	if (r == 0) {
		n = 5;
		inner(10);
	}
	static char stack[65536];
	getcontext(&c);
	c.uc_stack.ss_sp = stack;
	c.uc_stack.ss_size = sizeof stack;
	c.uc_link = &m;
	makecontext(&c, coroutine, 0);
	for (int i = 0; i < 3; i++) {
		swapcontext(&m, &c);
		printf("main %d\n", turn++);
	}
}
