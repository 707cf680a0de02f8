// Answers datagrams: "hello" until asked to end.
#include "../two.h"

int main(int argc, char **argv)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))}, from;
	int s = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	char b[2000];
	MUST(bind(s, (struct sockaddr *)&a, sizeof a));
	for (;;) {
		socklen_t n = sizeof from;
		ssize_t r = MUST(recvfrom(s, b, sizeof b, 0, (struct sockaddr *)&from, &n));
		MUST(sendto(s, b, r, 0, (struct sockaddr *)&from, n));
		if (r == 3 && !memcmp(b, "end", 3))
			break;
		if (memcmp(b, "hello", 5))
			printf("%zd bytes\n", r);
	}
}
