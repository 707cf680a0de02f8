// What a killed process has put into an eventfd is there.
#include "kill.h"
#include <sys/eventfd.h>

static int e;

static void act(void) { MUST(eventfd_write(e, 3)); }

int main(void)
{
	eventfd_t n;
	MUST(e = eventfd(1, EFD_NONBLOCK));
	slay(victim(act));
	SHOW(eventfd_read(e, &n));
	printf("%d\n", (int)n);
	SHOW(eventfd_read(e, &n));
}
