// Says hello until there is an answer, then sends datagrams of several sizes.
#include "../two.h"

int main(int argc, char **argv)
{
	struct sockaddr_in a = resolve(argv, atoi(argv[2]));
	struct timeval soon = {0, 100000}, long_time = {20, 0};
	static char b[2000];
	int s = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	MUST(connect(s, (struct sockaddr *)&a, sizeof a));
	MUST(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon));
	do
		send(s, "hello", 5, 0);
	while (recv(s, b, sizeof b, 0) < 0);
	while (recv(s, b, sizeof b, 0) > 0) // answers to earlier greetings
		;
	memset(b, 'x', sizeof b);
	MUST(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &long_time, sizeof long_time));
	for (int n = 1; n <= 1400; n += 233) {
		SHOW(send(s, b, n, 0));
		SHOW(recv(s, b, sizeof b, 0));
	}
	SHOW(send(s, "end", 3, 0));
	SHOW(recv(s, b, sizeof b, 0));
}
