// What programs on two nodes share. A server is started with a port, a client with
// the server's name and port; neither knows which comes first.
#ifndef TWO_H
#define TWO_H
#include "../net.h"

// serve listens on every address.
static inline int serve(char **argv)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
	int l = MUST(socket(AF_INET, SOCK_STREAM, 0)), on = 1;
	MUST(setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
	MUST(bind(l, (struct sockaddr *)&a, sizeof a));
	MUST(listen(l, 16));
	return l;
}

// resolve looks the server's name up.
static inline struct sockaddr_in resolve(char **argv, int port)
{
	struct addrinfo h = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *r;
	if (getaddrinfo(argv[1], NULL, &h, &r)) {
		printf("cannot go on: no address of the server\n");
		exit(99);
	}
	struct sockaddr_in a = *(struct sockaddr_in *)r->ai_addr;
	a.sin_port = htons(port);
	freeaddrinfo(r);
	return a;
}

// reach connects to the server, as often as it takes.
static inline int reach(char **argv)
{
	struct sockaddr_in a = resolve(argv, atoi(argv[2]));
	for (int i = 0; i < 500; i++) {
		int s = MUST(socket(AF_INET, SOCK_STREAM, 0));
		if (connect(s, (struct sockaddr *)&a, sizeof a) == 0)
			return s;
		close(s);
		nap(10);
	}
	printf("cannot go on: no server\n");
	exit(99);
}
#endif
