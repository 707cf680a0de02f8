// A connection lives on while one process has it that was not killed.
#include "kill.h"

static int s[2];

static void act(void) { MUST(write(s[0], "from the victim", 15)); }

int main(void)
{
	char b[32];
	tcp_pair(s);
	slay(victim(act));
	MUST(fcntl(s[1], F_SETFL, O_NONBLOCK));
	SHOW(read(s[1], b, 32));
	SHOW(read(s[1], b, 32));
	SHOW(write(s[0], "from the parent", 15));
	SHOW(read(s[1], b, 32));
	close(s[0]);
	wait_for("after the close", s[1], POLLIN | POLLRDHUP);
	SHOW(read(s[1], b, 32));
}
