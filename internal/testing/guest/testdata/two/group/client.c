// Asks a group, by the interface that leads to the server, until there is an answer.
#include "../two.h"

int main(int argc, char **argv)
{
	struct sockaddr_in to = resolve(argv, atoi(argv[2])), own;
	struct timeval soon = {0, 100000};
	socklen_t n = sizeof own;
	char b[100], question[] = "0 who is there";
	int way = MUST(socket(AF_INET, SOCK_DGRAM, 0)), s = MUST(socket(AF_INET, SOCK_DGRAM, 0));
	MUST(connect(way, (struct sockaddr *)&to, sizeof to));
	MUST(getsockname(way, (struct sockaddr *)&own, &n));
	MUST(setsockopt(s, IPPROTO_IP, IP_MULTICAST_IF, &own.sin_addr, sizeof own.sin_addr));
	MUST(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon));
	inet_aton("239.1.2.3", &to.sin_addr);
	for (char i = '1'; i <= '3'; i++) {
		question[0] = i;
		do {
			MUST(sendto(s, question, sizeof question - 1, 0, (struct sockaddr *)&to, sizeof to));
			b[0] = 0;
			n = recv(s, b, sizeof b, 0);
		} while (b[0] != i);
		printf("%.*s\n", (int)n, b);
	}
}
