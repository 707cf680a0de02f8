// Handlers that wait on their own stack, which may be taken away while they do (SS_AUTODISARM)
// or is another one from then on.
#include "guest.h"

#ifndef SS_AUTODISARM // a header of Linux has it, which does not go with those of libc
#define SS_AUTODISARM (1u << 31)
#endif

enum { SIZE = 65536 };
static char one[SIZE], two[SIZE];

static void tell(const char *what)
{
	stack_t s;
	char here;
	MUST(sigaltstack(NULL, &s));
	printf("%s: %s, flags %#x, on %s\n", what, s.ss_sp == one ? "one" : s.ss_sp == two ? "two" : s.ss_sp ? "another" : "none",
		(unsigned)s.ss_flags, &here >= one && &here < one + SIZE ? "one" : &here >= two && &here < two + SIZE ? "two" : "the usual one");
}

static void wait_a_bit(const char *what)
{
	for (int i = 0; i < 3; i++) {
		usleep(1000);
		tell(what);
	}
}

static void set(char *stack, unsigned flags)
{
	stack_t s = {.ss_sp = stack, .ss_size = SIZE, .ss_flags = flags};
	SHOW(sigaltstack(&s, NULL));
}

static void wait_there(int sig) { wait_a_bit("in the handler"); }

static void other(int sig)
{
	set(two, 0);
	wait_a_bit("with another");
}

static void nested(int sig)
{
	wait_a_bit("outer");
	raise(SIGUSR1);
	wait_a_bit("outer again");
}

int main(void)
{
	on(SIGUSR1, wait_there, SA_ONSTACK);
	on(SIGUSR2, other, 0);
	on(SIGHUP, nested, SA_ONSTACK);
	set(one, 0);
	raise(SIGUSR1);
	wait_a_bit("back");
	raise(SIGUSR2);
	wait_a_bit("the first is back");
	raise(SIGHUP);
	wait_a_bit("back from two");
	set(one, SS_AUTODISARM);
	wait_a_bit("armed");
	raise(SIGHUP);
	wait_a_bit("armed again");
}
