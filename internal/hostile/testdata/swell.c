// One call that asks for much, or a step that does not end.
#include "hostile.h"
#include <netinet/in.h>
#include <sys/socket.h>

static void *memory(size_t n)
{
	return mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

int main(int argc, char **argv)
{
	const size_t much = 2000000000;
	if (argc < 3)
		return 1;
	if (!strcmp(argv[2], "loop"))
		for (;;)
			getppid();
	if (!strcmp(argv[2], "spin"))
		for (;;)
			;
	if (!strcmp(argv[2], "out"))
		return write(2, memory(much), much) != much;
	if (!strcmp(argv[2], "datagram")) {
		struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(7000), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
		if (sendto(socket(AF_INET, SOCK_DGRAM, 0), memory(much), much, 0, (void *)&a, sizeof a) < 0)
			perror("send");
	}
	if (!strcmp(argv[2], "exec")) {
		enum { length = 131071, count = 65535 };
		char *s = memset(malloc(length), 'x', length - 1), **a = calloc(count + 1, sizeof *a);
		s[length - 1] = 0;
		for (int i = 0; i < count; i++)
			a[i] = s;
		execv("/bin/true", a);
		perror("exec");
	}
	return 0;
}
